"""The tab Payload: how much load until a link slips."""
