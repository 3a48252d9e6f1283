/** The views with a chart. They load together when one of them opens first, with the chart library. */
export { pairView } from './pairView.ts';
export { tokenView } from './tokenView.ts';
