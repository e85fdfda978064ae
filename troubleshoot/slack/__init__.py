"""A Slack bot over the same scans: shortcut, mention, direct message, slash command. It needs the extra `slack`."""
