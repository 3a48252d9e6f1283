/**
 * The worked example of docs/development.md: ExampleSwap, a family of constant product pools with events of its own. A
 * real family is a folder of src/protocols with the same object.
 */
import type { ChainLog } from '../../src/domain/block';
import { ZERO_ADDRESS, type Hex } from '../../src/domain/hex';
import type { PoolState } from '../../src/domain/pool';
import type { PoolCreation, PoolEvent, Protocol } from '../../src/protocols/protocol';
import { uniswapV2 } from '../../src/protocols/uniswapV2/uniswapV2';
import {
  addressAt,
  addressOfTopic,
  intAt,
  isAddressTopic,
  isUint160,
  loadData,
  uintAt,
} from '../../src/protocols/words';

/** PoolAdded(address indexed token0, address indexed token1, address pool, uint24 feePips). */
const POOL_ADDED: Hex = '0x34a80d11e6dfb064bf015e9f0b16899f003a7e030d6481774280744ca77fa046';
/** Traded(address indexed sender, int256 amount0, int256 amount1): what the pool gained. */
const TRADED: Hex = '0x802d8121f4e40719c8cce5bf41bb374b7997883cf00d5bb34ea902a4ca5f534e';
/** Provided(address indexed owner, uint256 amount0, uint256 amount1). */
const PROVIDED: Hex = '0x9344f1a0460e7d82a14a16b325b7b5f30a0e9aec0f2de30b9ca95066bdc0c27e';
const PIPS_ONE = 1_000_000n;

export const exampleSwap = {
  ...uniswapV2,
  name: 'example_swap',
  creationTopics: new Set([POOL_ADDED]),
  eventTopics: new Set([TRADED, PROVIDED]),
  // No event tells the reserves: they are the sums of all amounts.
  hasSync: false,
  hasShareTransfers: false,
  hasTokenTransfers: false,
  locksSharesAtZero: false,
  mintsProtocolShares: false,
  decodeCreation,
  decodeEvent,
  applyEvent,
} satisfies Protocol;

function decodeCreation({ topics, data }: ChainLog): PoolCreation | null {
  const [, token0, token1] = topics;
  if (topics.length !== 3 || !loadData(data, 2) || !isUint160(0) || uintAt(1) > PIPS_ONE) return null;
  if (!isAddressTopic(token0) || !isAddressTopic(token1)) return null;
  return {
    pool: addressAt(data, 0),
    token0: addressOfTopic(token0),
    token1: addressOfTopic(token1),
    feePips: Number(uintAt(1)),
    tickSpacing: 0,
  };
}

function decodeEvent({ topics, data }: ChainLog): PoolEvent | null {
  const [topic, party] = topics;
  if (topics.length !== 2 || !isAddressTopic(party) || !loadData(data, 2)) return null;
  const owner = addressOfTopic(party);
  if (topic === PROVIDED) {
    const shares = { liquidity: null, tickLower: null, tickUpper: null };
    return { kind: 'mint', owner, amount0: uintAt(0), amount1: uintAt(1), ...shares };
  }
  const parties = { sender: owner, recipient: ZERO_ADDRESS };
  return { kind: 'swap', ...parties, amount0: intAt(0), amount1: intAt(1), after: null };
}

function applyEvent(state: PoolState, event: PoolEvent): PoolState {
  if (event.kind !== 'swap' && event.kind !== 'mint') return state;
  const [reserve0, reserve1] = [state.reserve0 + event.amount0, state.reserve1 + event.amount1];
  return { ...state, reserve0: reserve0 < 0n ? 0n : reserve0, reserve1: reserve1 < 0n ? 0n : reserve1 };
}
