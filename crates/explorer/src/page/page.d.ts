// What the types of browsers leave open: events of this page come from its
// elements, and what selectors find is of the kind that the page has there.

interface EventTarget {
  blur: any;
  closest: any;
  matches: any;
}

interface Node {
  data: any;
}

interface Element {
  checked: any;
  content: any;
  dataset: any;
  focus: any;
  tabIndex: any;
  value: any;
}

interface PerformanceEntry {
  type: any;
}

// The second script, which the program puts together.
declare module "*/main.js";
