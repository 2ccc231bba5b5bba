//! Checks that no link leads out, and that a refusal does not tell what is there.

use std::os::unix::fs::symlink;

use super::*;

/// A name, the links as target and path, and the paths to try.
type Layout = (&'static str, Vec<(PathBuf, String)>, Vec<String>);

/// Layouts of links that lead out, one at a time, each with the paths to try.
fn layouts(neighbours: &Neighbours) -> Vec<Layout> {
    let outside = |path: &str| neighbours.outside(path);
    let one = |target: PathBuf| vec![(target, "l".to_owned())];
    let chain = |last: &str, links: usize| -> Vec<(PathBuf, String)> {
        let mut links: Vec<_> =
            (0..links).map(|n| (PathBuf::from(format!("c{}", n + 1)), format!("c{n}"))).collect();
        links.last_mut().unwrap().0 = PathBuf::from(last);
        links
    };
    let itself = vec!["l".to_owned(), "l/x".to_owned()];
    let below = vec!["l".to_owned(), "l/secret".to_owned(), "l/new/f".to_owned()];
    vec![
        ("absolute file", one(outside("secret")), itself.clone()),
        ("relative folder", one("../outside".into()), below.clone()),
        ("absolute folder", one(outside("")), below.clone()),
        ("missing outside", one(outside("missing")), itself.clone()),
        ("missing relative", one("../outside/missing".into()), itself.clone()),
        ("process file", one("/proc/self/environ".into()), itself.clone()),
        ("process root", one("/proc/self/root".into()), below.clone()),
        ("own root by an absolute path", one(neighbours.ws("")), itself.clone()),
        ("loop", one("l".into()), itself.clone()),
        ("loop of two", vec![("m".into(), "l".into()), ("l".into(), "m".into())], itself),
        ("out and in again", one("../ws/inside".into()), vec!["l".into(), "l/f".into()]),
        ("chain", chain("../outside", 40), vec!["c0".into(), "c0/secret".into()]),
        ("long chain", chain("inside", 41), vec!["c0".into(), "c0/f".into()]),
        (
            "folder in the middle",
            vec![("../../outside".into(), "inside/l".into())],
            vec!["inside/l".into(), "inside/l/secret".into(), "inside/l/new/f".into()],
        ),
    ]
}

#[tokio::test]
async fn links_that_lead_out_are_the_one_refusal() {
    let count = layouts(&Neighbours::new()).len();
    for index in 0..count {
        let neighbours = Neighbours::new();
        fs::create_dir(neighbours.ws("inside")).unwrap();
        fs::write(neighbours.ws("inside/f"), "fine").unwrap();
        let (layout, links, paths) = layouts(&neighbours).swap_remove(index);
        for (target, name) in links {
            symlink(target, neighbours.ws(&name)).unwrap();
        }
        for path in paths {
            for (call, result) in calls(&neighbours.workspace, &path).await {
                let refusal = crate::failure::outside();
                assert_eq!(result, Err(refusal), "{layout}: {call} {path}");
            }
        }
        let lines = neighbours.workspace.search(&operation(), "", "secret", 99).await.unwrap();
        assert!(lines.iter().all(|line| line.ends_with(": skipped (link)")), "{layout}: {lines:?}");
        neighbours.assert_untouched();
    }
}

#[tokio::test]
async fn links_that_stay_inside_are_followed_for_reading_only() {
    let neighbours = Neighbours::new();
    fs::create_dir_all(neighbours.ws("a/b")).unwrap();
    fs::write(neighbours.ws("a/f"), "secret and fine").unwrap();
    symlink("a", neighbours.ws("folder")).unwrap();
    symlink("../f", neighbours.ws("a/b/up")).unwrap();
    symlink("folder/b/up", neighbours.ws("file")).unwrap();
    symlink("a/none", neighbours.ws("dangling")).unwrap();
    let workspace = &neighbours.workspace;
    for path in ["folder/f", "a/b/up", "folder/b/up", "file"] {
        let read = workspace.read(&operation(), path).await.unwrap();
        assert_eq!(read, b"secret and fine", "{path}");
        let written = refused(workspace.write(&operation(), path, b"x").await).1;
        assert_eq!(written, "PATH_REFUSED", "{path}");
    }
    for path in ["folder/new", "folder/new/f", "dangling"] {
        let written = refused(workspace.write(&operation(), path, b"x").await).1;
        assert_eq!(written, "PATH_REFUSED", "{path}");
    }
    assert_eq!(workspace.list(&operation(), "folder").await.unwrap().len(), 2);
    let hits = workspace.search(&operation(), "folder/f", "secret", 9).await.unwrap();
    assert_eq!(hits, ["a/f:1:secret and fine"]);
    let kind = refused(workspace.read(&operation(), "dangling").await).0;
    assert_eq!(kind, PortFailureKind::NotFound);
    assert_eq!(fs::read(neighbours.ws("a/f")).unwrap(), b"secret and fine");
    assert!(!neighbours.ws("a/none").exists() && !neighbours.ws("a/new").exists());
}

#[tokio::test]
async fn the_folder_itself_may_be_reached_by_a_link() {
    let neighbours = Neighbours::new();
    let link = neighbours.temp.path().join("link");
    symlink(neighbours.ws(""), &link).unwrap();
    let workspace = FolderWorkspace::open(&link).unwrap();
    fs::remove_file(&link).unwrap();
    symlink(neighbours.outside(""), &link).unwrap();
    workspace.write(&operation(), "f", b"x").await.unwrap();
    assert!(neighbours.ws("f").exists(), "the folder was opened once");
    fs::remove_file(&link).unwrap();
    neighbours.assert_untouched();
}
