// Types for what the DOM types leave open: events of this page come from its own elements, and a selector
// finds elements of the expected type.

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
