//! Certificates and kubeconfig files of the test control plane: one authority, a server, and a person for each persona.

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};

/// The authority of one plane, with its folder.
pub struct Authority {
    folder: PathBuf,
    /// Where its servers are found.
    address: Ipv4Addr,
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    /// How many files there are for each name: tests that run side by side may ask for the same user.
    names: Mutex<BTreeMap<String, usize>>,
}

fn named(common: &str, groups: &[&str]) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    for group in groups {
        name.push(DnType::OrganizationName, *group);
    }
    name
}

impl Authority {
    /// A new authority; writes `ca.crt`, and `accounts.crt` and `accounts.key` for ServiceAccount tokens.
    pub fn new(folder: &Path, address: Ipv4Addr) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name = named("test control plane", &[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().expect("a key can be made");
        let pem = params.self_signed(&key).expect("an authority signs itself").pem();
        write(&folder.join("ca.crt"), &pem);
        write(&folder.join("ca.key"), &key.serialize_pem());
        let authority =
            Self { folder: folder.to_owned(), address, issuer: Issuer::new(params, key), pem, names: Mutex::default() };
        let accounts = CertificateParams::default();
        authority.sign(&accounts, &folder.join("accounts.crt"), &folder.join("accounts.key"));
        authority
    }

    /// The authority's certificate as PEM.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Writes `folder/tls.crt` and `folder/tls.key` for a server on this machine, also called by these names.
    pub fn server(&self, folder: &Path, names: &[&str]) {
        self.server_of(folder, names, 2096);
    }

    /// The same with a certificate that has come to its end.
    pub fn expired_server(&self, folder: &Path, names: &[&str]) {
        self.server_of(folder, names, 2020);
    }

    fn server_of(&self, folder: &Path, names: &[&str], ends: i32) {
        let names = ["localhost"].iter().chain(names).map(|name| (*name).to_owned());
        let mut params = CertificateParams::new(names.collect::<Vec<_>>()).expect("the names are DNS names");
        // The second is the Service `kubernetes`.
        let addresses = [Ipv4Addr::LOCALHOST, Ipv4Addr::new(10, 0, 0, 1), self.address];
        params.subject_alt_names.extend(addresses.map(|address| SanType::IpAddress(IpAddr::V4(address))));
        params.distinguished_name = named("test server", &[]);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.not_after = rcgen::date_time_ymd(ends, 1, 1);
        self.sign(&params, &folder.join("tls.crt"), &folder.join("tls.key"));
    }

    /// A kubeconfig for this user at `server`, known by a client certificate; the file's path.
    pub fn kubeconfig(&self, server: &str, user: &str, groups: &[&str]) -> PathBuf {
        let file = self.file(user);
        let (certificate, key) = (self.folder.join(format!("{file}.crt")), self.folder.join(format!("{file}.key")));
        let mut params = CertificateParams::default();
        params.distinguished_name = named(user, groups);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        self.sign(&params, &certificate, &key);
        let who = format!("client-certificate: {}, client-key: {}", certificate.display(), key.display());
        self.config(server, &file, &who)
    }

    /// A kubeconfig for the bearer of a token; the file's path.
    pub fn bearer(&self, server: &str, name: &str, token: &str) -> PathBuf {
        self.config(server, &self.file(name), &format!("token: {token}"))
    }

    /// A file's name that nobody else writes: the user's for the first who asks, as the parts of the plane expect it.
    fn file(&self, user: &str) -> String {
        let file = user.replace(':', "_");
        let mut names = self.names.lock().expect("nobody breaks the lock");
        let many = names.entry(file.clone()).or_default();
        *many += 1;
        if *many == 1 { file } else { format!("{file}-{many}") }
    }

    fn config(&self, server: &str, name: &str, who: &str) -> PathBuf {
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: test\n\
             clusters: [{{name: test, cluster: {{server: \"{server}\", certificate-authority: {ca}}}}}]\n\
             users: [{{name: test, user: {{{who}}}}}]\n\
             contexts: [{{name: test, context: {{cluster: test, user: test}}}}]\n",
            ca = self.folder.join("ca.crt").display()
        );
        let path = self.folder.join(format!("{name}.kubeconfig"));
        write(&path, &text);
        path
    }

    fn sign(&self, params: &CertificateParams, certificate: &Path, key: &Path) {
        let pair = KeyPair::generate().expect("a key can be made");
        let signed = params.signed_by(&pair, &self.issuer).expect("the authority signs");
        write(certificate, &signed.pem());
        write(key, &pair.serialize_pem());
    }
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("{} cannot be written: {error}", path.display()));
}
