//! Which files a patch of Codex would change.

/// What begins the line of a file, or where it is moved to.
const HEADS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// Returns every file that a patch names; nothing where it is not understood to its end.
pub(super) fn files(patch: &str) -> Option<Vec<String>> {
    let mut lines = patch.trim_matches(['\n', '\r', ' ']).lines();
    (lines.next()?.trim_end() == "*** Begin Patch").then_some(())?;
    let mut files = Vec::new();
    let mut ended = false;
    for line in lines {
        if ended {
            return None;
        }
        let line = line.trim_end();
        if line == "*** End Patch" {
            ended = true;
        } else if let Some(file) = HEADS.iter().find_map(|head| line.strip_prefix(head)) {
            files.push(file.trim().to_owned());
        } else if line.trim_start().starts_with("***") && line != "*** End of File" {
            // A heading that another reader may know.
            return None;
        }
    }
    (ended && !files.is_empty()).then_some(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_found_also_where_one_is_moved_to() {
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Update File: b\n*** Move to: /etc/c\n@@\n-1\n+2\n*** End of File\n*** Delete File: d\n*** End Patch\n";
        assert_eq!(files(patch).unwrap(), ["a.txt", "b", "/etc/c", "d"]);
    }

    #[test]
    fn what_is_not_understood_names_no_file() {
        for patch in [
            "",
            "*** Begin Patch\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\n+x",
            "*** Begin Patch\n*** Rename File: a\n*** Add File: b\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\n*** End Patch\n*** Add File: /etc/b\n",
            "*** Add File: a\n*** End Patch",
        ] {
            assert_eq!(files(patch), None, "{patch:?}");
        }
    }
}
