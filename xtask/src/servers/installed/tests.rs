//! What was installed from the pins is used again; anything else is made anew.

use super::*;

fn place() -> (PathBuf, PathBuf, PathBuf) {
    let folder = std::env::temp_dir().join(format!("xtask-installed-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let pins = folder.join("pins.txt");
    fs::write(&pins, "one==1").unwrap();
    (folder.clone(), pins, folder.join("made"))
}

#[test]
fn what_the_pins_made_is_made_once_and_anew_when_they_change() {
    let (folder, pins, made) = place();
    let installed = Installed::within(&folder, &folder);
    let make = |text: &'static str| {
        installed.once(&made, &pins, |made| {
            fs::create_dir_all(made)?;
            Ok(fs::write(made.join("by"), text)?)
        })
    };
    let by = || fs::read_to_string(made.join("by")).unwrap();
    make("first").unwrap();
    make("second").unwrap();
    assert_eq!(by(), "first");
    fs::write(&pins, "one==2").unwrap();
    make("third").unwrap();
    assert_eq!(by(), "third");
    fs::write(&pins, "one==3").unwrap();
    installed.once(&made, &pins, |_| anyhow::bail!("no network")).unwrap_err();
    assert!(!made.exists(), "half of an installation is none");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_version_is_compared_by_its_numbers() {
    assert_eq!(parts("v20.15.1\n"), Some((20, 15)));
    assert!(parts("v18.20.4") < Some(OLDEST_NODE) && parts("v100.0.0") > Some(OLDEST_NODE));
    assert_eq!(parts("node"), None);
}

#[test]
fn programs_of_the_system_put_no_folder_in_front_of_the_search_path() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let of_the_system = Path::new("node").parent().unwrap();
    assert_eq!(path_with(of_the_system).unwrap(), path);
    let own = path_with(Path::new("/own/bin")).unwrap();
    assert_eq!(std::env::split_paths(&own).next(), Some(PathBuf::from("/own/bin")));
}
