/**
 * The API requests with which a view of the page begins. The HTML names them, so that the browser sends them before the
 * modules of the page have loaded. Each must equal the page's own request, or the browser sends both.
 */

/** The market page without parameters in its address. */
export const MARKET_REQUESTS: readonly string[] = [
  '/api/v1/overview',
  '/api/v1/dexes?limit=100',
  '/api/v1/tokens?sort=volume_24h_usd&order=desc&page=1&limit=25&min_liquidity_usd=1000',
  '/api/v1/dexes?limit=12',
];

/** `address` is a valid address in lower case. */
export const pairRequests = (address: string): readonly string[] => [`/api/v1/pairs/${address}`];

/** `address` is a valid address in lower case. */
export const tokenRequests = (address: string): readonly string[] => [
  `/api/v1/tokens/${address}/audit`,
  `/api/v1/tokens/${address}`,
];
