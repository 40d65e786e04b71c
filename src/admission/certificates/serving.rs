//! What every replica does: serve the leaf that is stored, and know the bundles that are published.

use std::pin::pin;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{Stream, select_all};
use k8s_openapi::api::core::v1::Secret;
use kube::api::DynamicObject;
use kube::runtime::watcher;
use kube::{Api, Client};
use tokio::sync::Notify;

use super::stored::LEAF;
use super::{configurations, published};
use crate::admission::Told;
use crate::admission::server::Webhook;
use crate::admission::tls::Identity;
use crate::cluster::{Seen, follow};

/// One of the three things that are watched.
enum News {
    Leaf(Seen<Secret>),
    /// Of the configuration at this index.
    Configuration(usize, Seen<DynamicObject>),
}

/// The bundles of one configuration, as far as they are known.
#[derive(Default, Clone, PartialEq, Eq)]
enum There {
    #[default]
    Unknown,
    Absent,
    Bundles(Vec<Vec<u8>>),
}

/// What is known of one configuration.
#[derive(Default, Clone)]
struct Known {
    there: There,
    /// Seen in the list that is under way.
    listed: Option<Vec<Vec<u8>>>,
}

/// Takes up leaf and bundles as they come, for as long as it is polled. `nudge` wakes the writer when something that it
/// writes has changed; `tell` hears of what was done and of troubles.
pub async fn serve_stored(
    client: Client,
    namespace: &str,
    webhook: Arc<Webhook>,
    nudge: Arc<Notify>,
    tell: impl Fn(Told<'_>),
) {
    let named = |name: &str| watcher::Config::default().fields(&format!("metadata.name={name}"));
    let secrets = Api::<Secret>::namespaced(client.clone(), namespace);
    let mut all: Vec<std::pin::Pin<Box<dyn Stream<Item = News> + Send>>> =
        vec![Box::pin(follow(secrets, named(LEAF), "secrets").map(News::Leaf))];
    for (index, (resource, name)) in configurations().into_iter().enumerate() {
        let api = Api::<DynamicObject>::all_with(client.clone(), &resource);
        let words = format!("{}.{}", resource.plural, resource.group);
        all.push(Box::pin(follow(api, named(name), &words).map(move |seen| News::Configuration(index, seen))));
    }
    let mut known: [Known; 2] = Default::default();
    let (mut trouble, mut served) = (String::new(), None);
    let mut news = pin!(select_all(all));
    while let Some(one) = news.next().await {
        match one {
            News::Leaf(Seen::Listed(secret) | Seen::Applied(secret)) => {
                if served.as_ref() != secret.data.as_ref() {
                    take_up(&secret, &webhook, &tell);
                    served = secret.data;
                }
                nudge.notify_one();
            }
            News::Leaf(Seen::Deleted(_)) => nudge.notify_one(),
            News::Leaf(Seen::Failed(error)) | News::Configuration(_, Seen::Failed(error)) => {
                if error.message != trouble {
                    tell(Told::Trouble(&error.message));
                    trouble = error.message;
                }
            }
            News::Leaf(Seen::Begin | Seen::Complete) => {}
            News::Configuration(index, seen) => {
                if note(&mut known[index], seen) {
                    publish(&known, &webhook);
                    nudge.notify_one();
                }
            }
        }
    }
}

fn take_up(secret: &Secret, webhook: &Webhook, tell: &impl Fn(Told<'_>)) {
    let part = |key: &str| secret.data.as_ref().and_then(|data| data.get(key)).map_or(&[][..], |bytes| &bytes.0);
    match Identity::from_pem(part("tls.crt"), part("tls.key")) {
        Ok(identity) => {
            webhook.served.exchange(identity);
            webhook.metrics.count_reload(true);
            tell(Told::Done("the certificate was exchanged"));
        }
        Err(error) => {
            webhook.metrics.count_reload(false);
            tell(Told::Trouble(&format!("Secret {LEAF}: failed to {error}; the certificate that is served stays")));
        }
    }
}

/// Whether something is known now that was not.
fn note(known: &mut Known, seen: Seen<DynamicObject>) -> bool {
    let read = |object: &DynamicObject| published::bundles(&object.data);
    let now = match seen {
        Seen::Begin | Seen::Failed(_) => {
            known.listed = None;
            return false;
        }
        Seen::Listed(object) => {
            known.listed = Some(read(&object));
            return false;
        }
        Seen::Complete => known.listed.take(),
        Seen::Applied(object) => Some(read(&object)),
        Seen::Deleted(_) => None,
    };
    let now = now.map_or(There::Absent, There::Bundles);
    std::mem::replace(&mut known.there, now.clone()) != now
}

/// Nothing is said before both were looked for: until then nobody knows what the API server trusts.
fn publish(known: &[Known], webhook: &Webhook) {
    let mut all = Vec::new();
    for one in known {
        match &one.there {
            There::Unknown => return,
            There::Absent => {}
            There::Bundles(bundles) => all.extend(bundles.iter().cloned()),
        }
    }
    webhook.publish_all(all);
}
