/** The buffers of a Balancer V3 vault on a local node: wraps, unwraps and liquidity, and what the vault itself answers. */
import { Interface } from 'ethers';

import { encodeCall, readContract } from '../../../src/dev/abi';
import type { DevRpc } from '../../../src/dev/node/devRpc';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { V3_SWAP, type V3Market } from './v3Vault';

const PARAMS = '(uint8 kind, uint8 direction, address wrapper, uint256 amount, uint256 limit) params';
const TRADER = new Interface([
  'function initializeBuffer(address wrapper, uint256 underlying, uint256 wrapped)',
  'function addToBuffer(address wrapper, uint256 shares)',
  'function removeFromBuffer(address wrapper, uint256 shares)',
  `function exchange(${PARAMS})`,
  `function quoteExchange(${PARAMS}) returns (uint256)`,
]);
const VAULT = new Interface([
  'function getBufferBalance(address wrapper) view returns (uint256 underlying, uint256 wrapped)',
  'function getBufferTotalShares(address wrapper) view returns (uint256)',
]);
/** Values of WrappingDirection in VaultTypes.sol. */
const DIRECTION = { wrap: 0, unwrap: 1 } as const;

export type Exchange = keyof typeof DIRECTION;

export interface V3Buffers {
  initialize(wrapper: Hex, underlying: bigint, wrapped: bigint): void;
  add(wrapper: Hex, shares: bigint): void;
  remove(wrapper: Hex, shares: bigint): void;
  /** `amount` is paid in or out, by the kind. */
  exchange(wrapper: Hex, direction: Exchange, kind: keyof typeof V3_SWAP, amount: bigint): void;
  /** The asset, then the wrapper, raw. */
  balancesOf(wrapper: Hex): Promise<bigint[]>;
  sharesOf(wrapper: Hex): Promise<bigint>;
  /** Raw units out that the vault answers for raw units in. */
  quote(wrapper: Hex, direction: Exchange, amount: bigint): Promise<bigint>;
}

export function openBuffers(rpc: DevRpc, market: V3Market): V3Buffers {
  const paramsOf = (wrapper: Hex, direction: Exchange, kind: keyof typeof V3_SWAP, amount: bigint) => {
    const limit = kind === 'exactIn' ? 0n : 2n ** 127n;
    return [V3_SWAP[kind], DIRECTION[direction], wrapper, amount, limit];
  };
  const ask = async (name: string, wrapper: Hex): Promise<unknown> =>
    readContract(rpc, VAULT, market.vault, name, [wrapper]);
  return {
    initialize: (...values) => market.callTrader('vault', encodeCall(TRADER, 'initializeBuffer', values)),
    add: (...values) => market.callTrader('vault', encodeCall(TRADER, 'addToBuffer', values)),
    remove: (...values) => market.callTrader('owner', encodeCall(TRADER, 'removeFromBuffer', values)),
    exchange: (...values) =>
      market.callTrader('vault', encodeCall(TRADER, 'exchange', [paramsOf(...values)])),
    async balancesOf(wrapper) {
      const data = encodeCall(VAULT, 'getBufferBalance', [wrapper]);
      const answer = String(await rpc.call('eth_call', [{ to: market.vault, data }, 'latest']));
      return [...(VAULT.decodeFunctionResult('getBufferBalance', answer) as unknown as bigint[])];
    },
    sharesOf: async (wrapper) => BigInt(String(await ask('getBufferTotalShares', wrapper))),
    async quote(wrapper, direction, amount) {
      const data = encodeCall(TRADER, 'quoteExchange', [paramsOf(wrapper, direction, 'exactIn', amount)]);
      // The vault answers questions only if they come from the zero address.
      const call = { from: ZERO_ADDRESS, to: market.trader, data };
      return BigInt(String(await rpc.call('eth_call', [call, 'latest'])));
    },
  };
}
