/** Where the Etherscan dialect is answered, which is where POST and larger bodies are taken. */

/** In the words of the router; trailing slashes are taken too. Fixed words before names. */
export const ETHERSCAN_PATHS = [
  '/api',
  '/v2/api',
  '/api/v1',
  '/api/v1/etherscan',
  '/api/v1/etherscan/:chainId/api',
  '/:chainId/api',
  // Routescan's.
  '/v2/network/mainnet/evm/:chainId/etherscan/api',
  '/v2/network/testnet/evm/:chainId/etherscan/api',
] as const;

/** Lies on the way to all else: it is the dialect's only where `module` is given. */
export const SHARED_PATH = '/api/v1';

export const CHAIN_LIST_PATH = '/v2/chainlist';

/** Bytes of a form or a JSON body. */
export const BODY_MAX = 65_536;
/** Of verifysourcecode: its callers send whole standard JSON inputs. */
export const VERIFY_BODY_MAX = 5 * 1_048_576;

const MOUNTS =
  /^\/(?:api(?:\/v1(?:\/etherscan(?:\/[^/]+\/api)?)?)?|[^/]+\/api|v2\/chainlist|v2\/network\/(?:mainnet|testnet)\/evm\/[^/]+\/etherscan\/api)\/?$/;
const POSTED = /\/(?:api|v1|etherscan)\/?$/;

export function isEtherscanPath(path: string): boolean {
  return MOUNTS.test(path);
}

/** Whether POST is taken there. */
export function takesForms(path: string): boolean {
  return isEtherscanPath(path) && POSTED.test(path);
}
