//! What a person would see.

use ghost_agent::lab::host::{Dialed, Host as _, Protocol};

use super::place::{DEST, DEST_ADDRESS, Place, SOURCE, fabric, skipped};

#[tokio::test]
async fn machines_reach_each_other_through_the_fabric() {
    if skipped() {
        return;
    }
    let place = Place::new(fabric()).await;
    let told = place.ask(SOURCE, "ping -c 2 -W 1 10.0.1.5").await;
    assert!(told.contains("2 received"), "{told}");
    let to = DEST_ADDRESS.parse().unwrap();
    let icmp = place.host.dial(SOURCE, to, Protocol::Icmp, 0).await.unwrap();
    assert!(matches!(icmp, Dialed::Open(_)), "{icmp:?}");
    assert_eq!(place.host.dial(SOURCE, to, Protocol::Tcp, 22).await.unwrap(), Dialed::Refused);
    let told = place.ask(SOURCE, "ip neigh").await;
    assert!(told.contains("12:34:56:78:9a:bc"), "{told}");
    place.host.close().await;
    drop(place);
    tokio::task::yield_now().await;
    assert_eq!(DEST.len(), 10);
}
