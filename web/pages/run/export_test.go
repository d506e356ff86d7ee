package run

// PageLinks shows which pages the pager names.
var PageLinks = pageLinks
