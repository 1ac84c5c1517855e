//! A session as a text by itself, and back.

use ghost_investigate::event::read;
use ghost_session::DriveOutcome;
use ghost_session::export::{AuditFate, Export, ImportError, ReadError, Unsound, export, import};
use ghost_store::{EmbeddedStore, Ledger as _, Settings};
use tempfile::TempDir;

use super::replay::rich;
use super::world::{World, conclude, run, suppose};

/// Another machine.
fn elsewhere() -> (TempDir, EmbeddedStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(&folder.path().join("store.redb"), Settings::default()).unwrap();
    (folder, store)
}

fn parse(text: &str) -> Result<Export, ReadError> {
    ghost_session::export::read(text.as_bytes())
}

/// Returns every file below a folder.
fn files(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)),
            path => found.push(path.strip_prefix(folder).unwrap().to_string_lossy().into_owned()),
        }
    }
    found
}

#[tokio::test]
async fn a_session_comes_back_byte_for_byte_with_its_evidence_and_its_audit() {
    let world = rich().await;
    let text = world.exported().await;
    let (folder, store) = elsewhere();
    let imported = import(&store, &parse(&text).unwrap(), folder.path()).await.unwrap();
    assert_eq!((imported.audit, imported.evidence), (AuditFate::Written, 1));
    let back = export(&store, &world.session, folder.path(), "test").await.unwrap();
    let mut again = Vec::new();
    back.write(&mut again).unwrap();
    assert_eq!(String::from_utf8(again).unwrap(), text);
    // A second time it is there, and stays as it is.
    let refused = import(&store, &parse(&text).unwrap(), folder.path()).await.unwrap_err();
    assert!(matches!(refused, ImportError::Exists { .. }), "{refused}");
}

#[tokio::test]
async fn a_session_that_waits_goes_on_elsewhere() {
    let world = World::new(&[suppose(), run("touch /tmp/ghost-never"), conclude("REFUTED")]);
    world.mention("look at 5001").await;
    let question = world.question().await;
    let text = world.exported().await;
    let other = World::new(&[suppose(), run("touch /tmp/ghost-never"), conclude("REFUTED")]);
    import(other.store.as_ref(), &parse(&text).unwrap(), &other.data()).await.unwrap();
    assert_eq!(other.question().await, question);
    let reply = ghost_investigate::event::Reply::Deny { reason: "no".to_owned() };
    other.answer(&question, "ben", reply).await;
    assert_eq!(other.drive().await, DriveOutcome::Over);
}

#[tokio::test]
async fn what_is_cut_off_anywhere_is_refused_and_nothing_of_it_is_left() {
    let text = rich().await.exported().await;
    let (folder, store) = elsewhere();
    let step = text.len() / 200;
    for end in (0..text.len() - 1).step_by(step).chain(text.match_indices('\n').map(|(at, _)| at)) {
        let part = text.get(..end).unwrap_or_default();
        match parse(part) {
            Err(_) => {}
            // Without its last line break the text is whole.
            Ok(whole) => assert_eq!((end, whole), (text.len() - 1, parse(&text).unwrap())),
        }
    }
    let fewer = text.lines().take(5).collect::<Vec<_>>().join("\n");
    assert!(matches!(parse(&fewer), Err(ReadError::CutOff { found: 5, .. })));
    assert_eq!(
        (store.list(None, 9).await.unwrap(), files(folder.path())),
        (vec![], vec!["store.redb".to_owned()])
    );
}

#[test]
fn what_is_no_export_is_an_error_that_says_why() {
    let header = |rest: &str| format!(r#"{{"export":1,"session":"s1","version":"0"{rest}}}"#);
    let head = format!(r#","head":"{}""#, "0".repeat(64));
    for (text, why) in [
        (String::new(), "it is empty"),
        ("\n".to_owned(), "line 1: no header"),
        ("[]".to_owned(), "line 1: no header"),
        (header(r#","events":0"#), "line 1: no header"),
        (header(&format!(r#","events":0{head}"#)), "no event"),
        (header(&format!(r#","events":1{head}"#)), "cut off: 1 of 2 lines"),
        (header(&format!(r#","events":18446744073709551615{head}"#)), "more than"),
        (header(&format!(r#","events":1{head}"#)) + "\n{}\n{}\n", "more lines than the header says"),
        (header(r#","events":1"#).replace("s1", "../s1"), "an id is"),
        (r#"{"export":2,"what":"ever"}"#.to_owned(), "format 2"),
        ("x".repeat(3_000_000), "longer than"),
    ] {
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let error =
        ghost_session::export::read(&b"{\"export\":1,\"session\":\"\xff\"}"[..]).unwrap_err().to_string();
    assert!(error.contains("UTF-8"), "{error}");
}

#[tokio::test]
async fn what_was_changed_is_refused() {
    let text = rich().await.exported().await;
    let (folder, store) = elsewhere();
    let mut changed = parse(&text).unwrap();
    changed.head = ghost_base::Digest::of("");
    let mut evidence = parse(&text).unwrap();
    evidence.evidence.values_mut().for_each(|text| text.push('x'));
    let mut stuffed = parse(&text).unwrap();
    stuffed.evidence.insert(ghost_base::Digest::of("x"), "x".to_owned());
    let mut shorter = parse(&text).unwrap();
    shorter.ledger.pop();
    let mut line = parse(&text).unwrap();
    line.ledger.iter_mut().for_each(|line| *line = line.replace("RISKY", "SAFE"));
    for export in [changed, evidence, stuffed, shorter, line] {
        let refused = import(&store, &export, folder.path()).await.unwrap_err();
        assert!(matches!(refused, ImportError::Unsound(_)), "{refused}");
    }
    assert_eq!(
        (store.list(None, 9).await.unwrap(), files(folder.path())),
        (vec![], vec!["store.redb".to_owned()])
    );
    let ledger = parse(&text).unwrap();
    let newer = Export {
        ledger: vec![ledger.ledger.first().unwrap().replace(r#""format":1"#, r#""format":2"#)],
        ..ledger
    };
    let refused = import(&store, &newer, folder.path()).await.unwrap_err();
    assert!(
        matches!(&refused, ImportError::Unsound(Unsound::Ledger(error)) if error.to_string().contains("format 2"))
    );
}

#[tokio::test]
async fn an_audit_that_is_there_stays_and_one_that_is_not_whole_is_left_out() {
    let text = rich().await.exported().await;
    let whole = parse(&text).unwrap();
    let audit = String::from_utf8(whole.audit.clone().unwrap()).unwrap();
    let with = |audit: String| Export { audit: Some(audit.into_bytes()), ..whole.clone() };
    let (folder, store) = elsewhere();
    let path = folder.path().join("audit/ghost-test.jsonl");
    std::fs::create_dir(folder.path().join("audit")).unwrap();
    std::fs::write(&path, "mine").unwrap();
    assert_eq!(import(&store, &whole, folder.path()).await.unwrap().audit, AuditFate::Kept);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    let shorter = audit.lines().take(2).map(|line| format!("{line}\n")).collect();
    for bad in [audit.replace("SAFE", "RISKY"), audit.replace("ghost-test", "ghost-rest"), shorter] {
        let (folder, store) = elsewhere();
        let outcome = import(&store, &with(bad), folder.path()).await.unwrap().audit;
        assert!(matches!(outcome, AuditFate::Refused(_)), "{outcome:?}");
        assert!(!folder.path().join("audit").exists());
    }
}

#[tokio::test]
async fn what_is_left_of_an_erased_session_can_be_moved_too() {
    let world = rich().await;
    ghost_session::delete(world.store.as_ref(), &world.session, &world.data(), false).await.unwrap();
    let text = world.exported().await;
    assert!(!text.lines().take(60).any(|line| line.contains("look at 5001")));
    let (folder, store) = elsewhere();
    let imported = import(&store, &parse(&text).unwrap(), folder.path()).await.unwrap();
    assert_eq!((imported.evidence, imported.audit), (0, AuditFate::Written));
    let lines = store.read(&world.session, 0).await.unwrap();
    assert_eq!(read(&world.session, lines.iter().map(String::as_str)).unwrap().len(), imported.events);
}
