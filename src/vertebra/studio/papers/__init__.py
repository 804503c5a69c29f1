"""The tab Papers: published cases beside ours."""
