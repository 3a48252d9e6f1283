/** The check at the start that the configured endpoints are nodes of the configured chain. */
import { AppError } from '../../errors';
import { LIGHT_ATTEMPT_MS, parseChainId, type EndpointPool } from './endpointPool';

/**
 * Passes when at least one endpoint serves `expected`; those of another chain are refused and logged by the pool.
 * @throws AppError `bad_config` naming both ids when every endpoint serves another chain, RpcError when none answers.
 */
export async function checkChainId(
  pool: EndpointPool,
  expected: number,
  signal?: AbortSignal,
): Promise<void> {
  const options = { attemptMs: LIGHT_ATTEMPT_MS, ...(signal === undefined ? {} : { signal }) };
  const chainId = await pool.call('eth_chainId', [], parseChainId, options);
  // A pool made for another chain (or for none) does not check by itself.
  if (chainId !== expected) {
    throw new AppError('bad_config', `the RPC endpoint serves chain ${chainId}, not ${expected}`);
  }
}
