//! Price lists in their published shapes → rows → a RateCard. The files are small and written by hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use stagger::failure::SourceFile;
use stagger::ledger::prices::{CapacityType, Choice, Format, Hints, Owned, PriceRow, Prices, owned, rate_card, read};
use stagger::ratio::Ratio;

fn read_text(text: &str, format: Format) -> Prices {
    let file = Arc::new(SourceFile { path: "prices".to_owned(), text: text.to_owned() });
    read(&file, format, &Hints { gpus: BTreeMap::new(), currency: Some("USD".to_owned()) })
}

fn rows(prices: &Prices) -> Vec<String> {
    let row = |row: &PriceRow| {
        format!(
            "{} {} {} {} {}",
            row.device,
            row.region,
            row.capacity.as_str(),
            row.price.decimal_floor(9),
            row.currency
        )
    };
    prices.rows.iter().map(row).collect()
}

fn told(prices: &Prices) -> Vec<String> {
    prices.findings.iter().map(|finding| format!("{} {}: {}", finding.code, finding.subject, finding.message)).collect()
}

fn product(sku: &str, kind: &str, system: &str, gpu: &str) -> String {
    format!(
        r#""{sku}": {{"sku": "{sku}", "productFamily": "Compute Instance", "attributes": {{"instanceType": "{kind}", "regionCode": "eu-west-1",
        "operatingSystem": "{system}", "tenancy": "Shared", "capacitystatus": "Used", "preInstalledSw": "NA"{gpu}}}}}"#
    )
}

fn aws() -> String {
    let products = [
        product("A", "p4d.24xlarge", "Linux", r#", "gpu": "8""#),
        product("B", "p4d.24xlarge", "Windows", r#", "gpu": "8""#),
        product("C", "m7i.large", "Linux", ""),
        product("D", "g4dn.xlarge", "Linux", r#", "gpu": "1""#),
    ];
    let term = |sku: &str, price: &str| {
        format!(
            r#""{sku}": {{"{sku}.JRTC": {{"sku": "{sku}", "effectiveDate": "2026-01-01T00:00:00Z", "priceDimensions":
        {{"{sku}.JRTC.6YS6": {{"unit": "Hrs", "beginRange": "0", "endRange": "Inf", "pricePerUnit": {{"USD": "{price}"}}}}}}, "termAttributes": {{}}}}}}"#
        )
    };
    let reserved = r#""A": {"A.R1": {"effectiveDate": "2026-01-01T00:00:00Z", "priceDimensions": {"x": {"unit": "Hrs", "pricePerUnit": {"USD": "20.0000000000"}}},
        "termAttributes": {"LeaseContractLength": "1yr", "OfferingClass": "standard", "PurchaseOption": "No Upfront"}},
        "A.R2": {"priceDimensions": {"x": {"unit": "Quantity", "pricePerUnit": {"USD": "100000"}}},
        "termAttributes": {"LeaseContractLength": "1yr", "OfferingClass": "standard", "PurchaseOption": "All Upfront"}}}"#;
    format!(
        r#"{{"formatVersion": "v1.0", "offerCode": "AmazonEC2", "products": {{{}}}, "terms": {{"OnDemand": {{{}, {}, {}, {}}}, "Reserved": {{{reserved}}}}}}}"#,
        products.join(","),
        term("A", "35.3964000000"),
        term("B", "39.0000000000"),
        term("C", "0.1"),
        term("D", "0.5870000000")
    )
}

#[test]
fn aws_json_gives_the_price_of_one_gpu() {
    let prices = read_text(&aws(), Format::Aws);
    assert_eq!(told(&prices), [] as [String; 0]);
    assert_eq!(
        rows(&prices),
        [
            "g4dn.xlarge eu-west-1 on-demand 0.587 USD",
            "p4d.24xlarge eu-west-1 on-demand 4.42455 USD",
            "p4d.24xlarge eu-west-1 reserved-1y 2.5 USD",
        ]
    );
    let left: Vec<(&str, u64)> = prices.left_out.into_iter().collect();
    assert_eq!(
        left,
        [
            ("licences, dedicated tenancy or unused reservations", 1),
            ("reservations with upfront payment, or convertible", 1),
            ("without a GPU", 1)
        ]
    );
}

const AWS_CSV: &str = r#""FormatVersion","v1.0"
"Disclaimer","informational purposes only"
"Publication Date","2026-11-20T00:00:00Z"
"Version","20261120000000"
"OfferCode","AmazonEC2"
"SKU","OfferTermCode","RateCode","TermType","PriceDescription","EffectiveDate","Unit","PricePerUnit","Currency","LeaseContractLength","PurchaseOption","OfferingClass","Product Family","Instance Type","Tenancy","Operating System","CapacityStatus","Pre Installed S/W","GPU","Region Code"
"A","JRTC","A.JRTC.6YS6","OnDemand","$35.3964 per On Demand Linux p4d.24xlarge","2026-01-01","Hrs","35.3964000000","USD","","","","Compute Instance","p4d.24xlarge","Shared","Linux","Used","NA","8","eu-west-1"
"A","R1","A.R1","Reserved","","2026-01-01","Hrs","15.0000000000","USD","3yr","No Upfront","standard","Compute Instance","p4d.24xlarge","Shared","Linux","Used","NA","8","eu-west-1"
"C","JRTC","C.JRTC","OnDemand","","2026-01-01","Hrs","cheap","USD","","","","Compute Instance","g6.xlarge","Shared","Linux","Used","NA","1","eu-west-1"
"E","JRTC","E.JRTC","OnDemand","","2026-01-01","Hrs","0.1","USD","","","","Compute Instance","m7i.large","Shared","Linux","Used","NA","","eu-west-1"
"#;

#[test]
fn aws_csv_has_its_titles_on_line_six() {
    let prices = read_text(AWS_CSV, Format::Aws);
    assert_eq!(
        rows(&prices),
        ["p4d.24xlarge eu-west-1 on-demand 4.42455 USD", "p4d.24xlarge eu-west-1 reserved-3y 1.875 USD"]
    );
    assert_eq!(told(&prices), ["SG161 AWS SKU C: `cheap` is not a decimal number such as 0.80"]);
    assert_eq!(read_text("a,b\n1,2\n", Format::Aws).findings.len(), 1);
}

#[test]
fn azure_reservations_carry_the_price_of_the_whole_term() {
    let item = |sku: &str, name: &str, kind: &str, price: &str, more: &str| {
        format!(
            r#"{{"currencyCode": "USD", "tierMinimumUnits": 0.0, "retailPrice": {price}, "unitPrice": {price}, "armRegionName": "westeurope",
            "effectiveStartDate": "2026-03-01T00:00:00Z", "meterId": "m-{name}", "meterName": "{name}", "productName": "Virtual Machines NCads", "skuName": "{name}",
            "serviceName": "Virtual Machines", "unitOfMeasure": "1 Hour", "type": "{kind}", "armSkuName": "{sku}"{more}}}"#
        )
    };
    let items = [
        item("Standard_NC48ads_A100_v4", "NC48ads", "Consumption", "7.346", ""),
        item("Standard_NC48ads_A100_v4", "NC48ads Spot", "Consumption", "2.9384", ""),
        item("Standard_NC48ads_A100_v4", "NC48ads Low Priority", "Consumption", "1.4", ""),
        item("Standard_NC48ads_A100_v4", "NC48ads 1y", "Reservation", "43800", r#", "reservationTerm": "1 Year""#),
        item("Standard_D2s_v5", "D2s", "Consumption", "0.096", ""),
    ];
    let text = format!(
        r#"{{"BillingCurrency": "USD", "Items": [{}], "NextPageLink": "https://example.org/2", "Count": 5}}"#,
        items.join(",")
    );
    let prices = read_text(&text, Format::Azure);
    assert_eq!(
        rows(&prices),
        [
            "Standard_NC48ads_A100_v4 westeurope on-demand 3.673 USD",
            "Standard_NC48ads_A100_v4 westeurope spot 1.4692 USD",
            "Standard_NC48ads_A100_v4 westeurope reserved-1y 2.5 USD",
        ]
    );
    assert_eq!(told(&prices), ["SG163 Azure retail prices: there are more pages; only this one was read"]);
    assert_eq!(prices.left_out.values().sum::<u64>(), 2);
}

#[test]
fn google_prices_are_units_and_billionths() {
    let sku = |id: &str, text: &str, usage: &str, tiers: &str| {
        format!(
            r#"{{"name": "services/6F81/skus/{id}", "skuId": "{id}", "description": "{text}", "category": {{"serviceDisplayName": "Compute Engine",
            "resourceFamily": "Compute", "resourceGroup": "GPU", "usageType": "{usage}"}}, "serviceRegions": ["europe-west4", "us-central1"],
            "pricingInfo": [{{"effectiveTime": "2026-11-01T00:00:00Z", "pricingExpression": {{"usageUnit": "h", "tieredRates": [{tiers}]}}}}]}}"#
        )
    };
    let tier = |start: u32, units: &str, nanos: u32| {
        format!(
            r#"{{"startUsageAmount": {start}, "unitPrice": {{"currencyCode": "USD", "units": "{units}", "nanos": {nanos}}}}}"#
        )
    };
    let skus = [
        sku("A1", "Nvidia Tesla A100 GPU running in Americas", "OnDemand", &tier(0, "2", 933_908_000)),
        sku(
            "A2",
            "Nvidia Tesla A100 GPU attached to Spot Preemptible VMs running in Americas",
            "Preemptible",
            &tier(0, "0", 880_173_000),
        ),
        sku(
            "A3",
            "Nvidia Tesla T4 GPU running in EMEA",
            "OnDemand",
            &format!("{}, {}", tier(0, "0", 0), tier(1, "1", 0)),
        ),
    ];
    let core = r#"{"skuId": "N1", "description": "N1 Core", "category": {"resourceGroup": "N1Standard", "usageType": "OnDemand"}}"#;
    let prices = read_text(&format!(r#"{{"skus": [{}, {core}], "nextPageToken": ""}}"#, skus.join(",")), Format::Gcp);
    assert_eq!(
        rows(&prices),
        [
            "Nvidia Tesla A100 europe-west4 on-demand 2.933908 USD",
            "Nvidia Tesla A100 europe-west4 spot 0.880173 USD",
            "Nvidia Tesla A100 us-central1 on-demand 2.933908 USD",
            "Nvidia Tesla A100 us-central1 spot 0.880173 USD",
        ]
    );
    assert_eq!(told(&prices), ["SG161 Google Cloud SKU A3: there are 2 price tiers, not one"]);
}

const OPENCOST: &str = "EndTimestamp,InstanceID,Region,AssetClass,InstanceIDField,InstanceType,MarketPriceHourly,Version\n\
    2028-01-06 23:34:45 UTC,Quadro_RTX_4000,US-East,gpu,gpu.nvidia.com/class,,0.24,\n\
    2028-01-06 23:34:45 UTC,,,node,metadata.labels.beta.kubernetes.io/instance-type,g4dn.xlarge,0.13,\n\
    ,Tesla_T4,,gpu,nvidia.com/gpu_type,,-1,\n";

#[test]
fn opencost_sheets_price_gpus_by_their_label() {
    let prices = read_text(OPENCOST, Format::OpenCost);
    assert_eq!(rows(&prices), ["Quadro_RTX_4000 US-East on-demand 0.24 USD"]);
    assert_eq!(told(&prices), ["SG161 OpenCost line 4: the price is negative or too large"]);
    let file = Arc::new(SourceFile { path: "p".to_owned(), text: OPENCOST.to_owned() });
    let nameless = read(&file, Format::OpenCost, &Hints::default());
    assert_eq!(told(&nameless), ["SG160 p: an OpenCost price sheet does not name its currency; give one, such as USD"]);
}

#[test]
fn rows_that_overlap_are_refused() {
    let twice = AWS_CSV.replace("\"C\",\"JRTC\"", "\"Z\",\"JRTC\"").replace("cheap", "1.0")
        + &AWS_CSV.lines().nth(6).expect("a row").replace("\"A\"", "\"A2\"").replace("35.3964", "36")
        + "\n";
    let prices = read_text(&twice, Format::Aws);
    assert_eq!(
        told(&prices),
        ["SG162 on-demand p4d.24xlarge in eu-west-1: AWS SKU A and AWS SKU A2 both price it at the same time"]
    );
    let again = format!("{AWS_CSV}{}\n", AWS_CSV.lines().nth(6).expect("a row"));
    assert_eq!(read_text(&again, Format::Aws).rows.len(), 2, "the same row again is the same row");
}

#[test]
fn every_format_refuses_what_is_not_its_own() {
    for format in [Format::Aws, Format::Azure, Format::Gcp, Format::OpenCost] {
        for text in ["", "{}", "[1]", "a,b\n", "{\"Items\": 3}"] {
            let prices = read_text(text, format);
            assert_eq!(prices.rows, [], "{format:?} {text}");
            assert_eq!(prices.findings.len(), 1, "{format:?} {text}: {:?}", prices.findings);
        }
    }
}

#[test]
fn a_price_list_becomes_a_rate_card_that_is_read_back() {
    let prices = read_text(&aws(), Format::Aws);
    let choice = Choice {
        name: "aws-ireland",
        region: None,
        capacity: CapacityType::OnDemand,
        at: None,
        resource: "nvidia.com/gpu",
    };
    let yaml = rate_card(&prices.rows, &choice).expect("one region, one currency");
    let expected = "\
# on-demand prices in eu-west-1, each for one GPU. `device` names a device of the GpuInventory.
apiVersion: stagger.dev/v1alpha1
kind: RateCard
metadata:
  name: aws-ireland
spec:
  currency: USD
  effectiveFrom: \"2026-01-01T00:00:00Z\"
  rates:
  - {device: \"g4dn.xlarge\", resource: nvidia.com/gpu, unit: GpuHour, amount: \"0.587\"}  # AWS SKU D
  - {device: \"p4d.24xlarge\", resource: nvidia.com/gpu, unit: GpuHour, amount: \"4.42455\"}  # AWS SKU A, the price of 8 GPUs shared
";
    assert_eq!(yaml, expected);
    let reading = stagger::scenario::read(
        &[stagger::scenario::Input::text("card.yaml", &yaml)],
        &stagger::scenario::Limits::default(),
    );
    assert!(!reading.has_errors(), "{:?}", reading.findings);
    let spot = Choice { capacity: CapacityType::Spot, ..choice };
    assert_eq!(rate_card(&prices.rows, &spot), Err("it has no spot prices in eu-west-1".to_owned()));
}

#[test]
fn owned_hardware_shows_its_formula() {
    let decimal = |text: &str| Ratio::parse(text).expect("a decimal");
    let known = Owned {
        purchase: decimal("30000"),
        months: 48,
        power_kw: decimal("0.7"),
        pue: decimal("1.3"),
        kwh_price: decimal("0.2"),
        monthly: decimal("120"),
    };
    let price = owned(&known).expect("sound figures");
    assert_eq!(price.formula, "30000 / (48 × 730) + 0.7 × 1.3 × 0.2 + 120 / 730 = 1.202547 an hour");
    // 30000/35040 + 0.182 + 120/730, exactly.
    assert_eq!(price.per_gpu_hour, Ratio::new(87_786, 73_000).expect("not zero"));
    assert!(owned(&Owned { pue: decimal("0.9"), ..known.clone() }).is_err());
    assert!(owned(&Owned { months: 0, ..known }).is_err());
}
