/**
 * The slow reference decoder of DEX logs: the ABIs of the published Uniswap packages, decoded by ethers. A log is
 * well-formed if and only if its decoded values encode to the same bytes.
 */
import { Interface, type LogDescription, type ParamType } from 'ethers';
import fc from 'fast-check';
import { abi as v2FactoryAbi } from '@uniswap/v2-core/build/IUniswapV2Factory.json';
import { abi as v2PairAbi } from '@uniswap/v2-core/build/IUniswapV2Pair.json';
import { abi as v3FactoryAbi } from '@uniswap/v3-core/artifacts/contracts/interfaces/IUniswapV3Factory.sol/IUniswapV3Factory.json';
import { abi as v3PoolAbi } from '@uniswap/v3-core/artifacts/contracts/interfaces/IUniswapV3Pool.sol/IUniswapV3Pool.json';

import type { ChainLog } from '../../../src/domain/block';
import type { Hex } from '../../../src/domain/hex';
import type { PoolCreation, PoolEvent } from '../../../src/protocols/protocol';

/** The only event of PancakeSwap that differs. Its name is the same as Uniswap's, so the event needs a
 * separate interface. */
const PANCAKE_SWAP =
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, ' +
  'uint128 liquidity, int24 tick, uint128 protocolFeesToken0, uint128 protocolFeesToken1)';

export const V2 = new Interface(v2PairAbi);
export const V2_FACTORY = new Interface(v2FactoryAbi);
export const V3 = new Interface(v3PoolAbi);
export const V3_FACTORY = new Interface(v3FactoryAbi);
export const PANCAKE = new Interface([PANCAKE_SWAP]);

const ADDRESS: Hex = `0x${'ab'.repeat(20)}`;
const HASH: Hex = `0x${'cd'.repeat(32)}`;

export interface Words {
  readonly topics: readonly string[];
  readonly data: string;
}

/** A log made of these words. Decoders ignore all other fields of the log. */
export function toLog({ topics, data }: Words): ChainLog {
  return {
    address: ADDRESS,
    topics: topics as readonly Hex[],
    data: data as Hex,
    transactionHash: HASH,
    transactionIndex: 0,
    logIndex: 0,
  };
}

export function encode(abi: Interface, event: string, values: readonly unknown[]): Words {
  const { topics, data } = abi.encodeEventLog(event, values);
  return { topics: topics.map((topic) => String(topic)), data };
}

const valueArbitraries = new Map<string, fc.Arbitrary<unknown>>();

function arbitraryOf({ type }: ParamType): fc.Arbitrary<unknown> {
  const known = valueArbitraries.get(type);
  if (known !== undefined) return known;
  const made = makeArbitrary(type);
  valueArbitraries.set(type, made);
  return made;
}

/** Any value of a Solidity type; small and extreme values are more frequent than by chance. */
function makeArbitrary(type: string): fc.Arbitrary<unknown> {
  if (type === 'address') {
    return fc
      .bigInt({ min: 0n, max: (1n << 160n) - 1n })
      .map((value) => `0x${value.toString(16).padStart(40, '0')}`);
  }
  const [, unsigned, bitsText] = /^(u?)int(\d+)$/.exec(type) ?? [];
  const bits = BigInt(bitsText ?? 256);
  const min = unsigned === 'u' ? 0n : -(1n << (bits - 1n));
  const max = unsigned === 'u' ? (1n << bits) - 1n : (1n << (bits - 1n)) - 1n;
  const nearZero = 1n << (bits / 2n);
  return fc.oneof(
    fc.bigInt({ min, max }),
    fc.bigInt({ min: min < 0n ? -nearZero : 0n, max: nearZero }),
    fc.constantFrom(min, max, 0n),
  );
}

/** Random well-formed logs of an event with any values. */
export function logsOf(abi: Interface, event: string): fc.Arbitrary<Words> {
  const fragment = abi.getEvent(event);
  if (fragment === null) throw new Error(`the ABI has no event ${event}`);
  return fc.tuple(...fragment.inputs.map(arbitraryOf)).map((values) => encode(abi, event, values));
}

/** The log as ethers reads it; null if the log is not well-formed. */
function parseCanonical(abi: Interface, { topics, data }: Words): LogDescription | null {
  let parsed: LogDescription | null;
  let again: Words;
  try {
    parsed = abi.parseLog({ topics, data });
    if (parsed === null) return null;
    again = encode(abi, parsed.name, [...parsed.args]);
  } catch {
    return null;
  }
  const same = again.data === data && again.topics.join() === topics.join();
  return same ? parsed : null;
}

export function referenceV2(words: Words): PoolEvent | null {
  const parsed = parseCanonical(V2, words);
  if (parsed === null) return null;
  const { args } = parsed;
  const none = { liquidity: null, tickLower: null, tickUpper: null };
  switch (parsed.name) {
    case 'Sync':
      return { kind: 'sync', reserve0: args['reserve0'], reserve1: args['reserve1'] };
    case 'Mint':
      return {
        kind: 'mint',
        owner: lower(args['sender']),
        amount0: args['amount0'],
        amount1: args['amount1'],
        ...none,
      };
    case 'Burn':
      return {
        kind: 'burn',
        owner: lower(args['to']),
        amount0: args['amount0'],
        amount1: args['amount1'],
        ...none,
      };
    case 'Swap': {
      const amount0 = BigInt(args['amount0In']) - BigInt(args['amount0Out']);
      const amount1 = BigInt(args['amount1In']) - BigInt(args['amount1Out']);
      const fits = [amount0, amount1].every((amount) => BigInt.asIntN(256, amount) === amount);
      if (!fits) return null;
      return { kind: 'swap', ...parties(args['sender'], args['to']), amount0, amount1, after: null };
    }
    default:
      return null;
  }
}

export function referenceV3(words: Words): PoolEvent | null {
  const parsed = parseCanonical(V3, words) ?? parseCanonical(PANCAKE, words);
  if (parsed === null) return null;
  const { args } = parsed;
  const amounts = { amount0: args['amount0'], amount1: args['amount1'] };
  const ticks = { tickLower: Number(args['tickLower'] ?? 0), tickUpper: Number(args['tickUpper'] ?? 0) };
  switch (parsed.name) {
    case 'Swap': {
      const after = {
        sqrtPriceX96: args['sqrtPriceX96'],
        liquidity: args['liquidity'],
        tick: Number(args['tick']),
      };
      return { kind: 'swap', ...parties(args['sender'], args['recipient']), ...amounts, after };
    }
    case 'Initialize':
      return { kind: 'initialize', sqrtPriceX96: args['sqrtPriceX96'], tick: Number(args['tick']) };
    case 'Mint':
      return { kind: 'mint', owner: lower(args['owner']), ...amounts, liquidity: args['amount'], ...ticks };
    case 'Burn':
      return { kind: 'burn', owner: lower(args['owner']), ...amounts, liquidity: args['amount'], ...ticks };
    case 'Collect':
      return { kind: 'collect', ...owners(args['owner'], args['recipient']), ...amounts, ...ticks };
    case 'CollectProtocol':
      return { kind: 'collect_protocol', ...owners(args['sender'], args['recipient']), ...amounts };
    case 'Flash': {
      const paid = { amount0: args['paid0'], amount1: args['paid1'] };
      return { kind: 'flash', ...owners(args['sender'], args['recipient']), ...paid };
    }
    default:
      return null;
  }
}

export function referenceV2Creation(words: Words): PoolCreation | null {
  const parsed = parseCanonical(V2_FACTORY, words);
  if (parsed?.name !== 'PairCreated') return null;
  const { args } = parsed;
  return {
    pool: lower(args['pair']),
    ...tokens(args['token0'], args['token1']),
    feePips: null,
    tickSpacing: 0,
  };
}

export function referenceV3Creation(words: Words): PoolCreation | null {
  const parsed = parseCanonical(V3_FACTORY, words);
  if (parsed?.name !== 'PoolCreated') return null;
  const { args } = parsed;
  const rest = { feePips: Number(args['fee']), tickSpacing: Number(args['tickSpacing']) };
  return { pool: lower(args['pool']), ...tokens(args['token0'], args['token1']), ...rest };
}

function lower(address: string): Hex {
  return address.toLowerCase() as Hex;
}

function parties(sender: string, recipient: string): { sender: Hex; recipient: Hex } {
  return { sender: lower(sender), recipient: lower(recipient) };
}

function owners(owner: string, recipient: string): { owner: Hex; recipient: Hex } {
  return { owner: lower(owner), recipient: lower(recipient) };
}

function tokens(token0: string, token1: string): { token0: Hex; token1: Hex } {
  return { token0: lower(token0), token1: lower(token1) };
}
