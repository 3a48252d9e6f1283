/** Paths of the Etherscan dialect. These paths also accept POST and larger bodies. */

/** Paths in the router's syntax; a trailing slash is allowed. Paths with fixed words come before paths with
 * parameters. */
export const ETHERSCAN_PATHS = [
  '/api',
  '/v2/api',
  '/api/v1',
  '/api/v1/etherscan',
  '/api/v1/etherscan/:chainId/api',
  '/:chainId/api',
  // Paths in the layout of Routescan.
  '/v2/network/mainnet/evm/:chainId/etherscan/api',
  '/v2/network/testnet/evm/:chainId/etherscan/api',
] as const;

/**
 * All market endpoints are below /api/v1. A request for /api/v1 itself is one of the dialect if it names a
 * `module`.
 */
export const SHARED_PATH = '/api/v1';

export const CHAIN_LIST_PATH = '/v2/chainlist';

/** Size limit of a form or JSON body, in bytes. */
export const BODY_MAX = 65_536;
/** Size limit of a body for verifysourcecode, which contains a whole standard JSON input, in bytes. */
export const VERIFY_BODY_MAX = 5 * 1_048_576;

const ETHERSCAN_PATH =
  /^\/(?:api(?:\/v1(?:\/etherscan(?:\/[^/]+\/api)?)?)?|[^/]+\/api|v2\/chainlist|v2\/network\/(?:mainnet|testnet)\/evm\/[^/]+\/etherscan\/api)\/?$/;
const FORM_PATH = /\/(?:api|v1|etherscan)\/?$/;

export function isEtherscanPath(path: string): boolean {
  return ETHERSCAN_PATH.test(path);
}

/** Whether the path accepts POST. */
export function takesForms(path: string): boolean {
  return isEtherscanPath(path) && FORM_PATH.test(path);
}
