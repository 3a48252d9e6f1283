/**
 * Uniswap V2 on a real node: pairs of @uniswap/v2-core with tokens of many decimals, and random trades and liquidity. After
 * each block our reserves and prices must equal the pairs'. A pair pays out our quote, and not one unit more.
 */
import { Interface } from 'ethers';

import { encodeCall, encodeDeploy, readContract } from '../../../src/dev/abi';
import { readPackageBytecode } from '../../../src/dev/packageFiles';
import type { ChainLog } from '../../../src/domain/block';
import { numberToHex, type Hex } from '../../../src/domain/hex';
import { EMPTY_STATE, type PoolState } from '../../../src/domain/pool';
import { uniswapV2 } from '../../../src/protocols/uniswapV2/uniswapV2';
import { startTestAnvil, type TestAnvil } from '../../support/node/anvil';
import { recordOracle } from '../../support/protocols/protocolTable';
import { Random } from '../../support/random';
import { deploySolidly, SOLIDLY_TRADER, type SolidlyMarket } from '../../support/solidly/solidlyMarket';

const SEED = 3;
const ROUNDS = 140;
const FEE = { feePips: 3_000 };
const FACTORY = new Interface([
  'constructor(address feeToSetter)',
  'function createPair(address a, address b) returns (address)',
  'function getPair(address a, address b) view returns (address)',
]);
const PAIR = new Interface([
  'function getReserves() view returns (uint112 reserve0, uint112 reserve1, uint32 time)',
]);

let anvil: TestAnvil;
let market: SolidlyMarket;
const pairs: Hex[] = [];
const states = new Map<Hex, PoolState>();
const random = new Random(SEED);

beforeAll(async () => {
  anvil = await startTestAnvil();
  market = await deploySolidly(anvil.rpc, [0, 6, 8, 18, 30]);
  const [from] = (await anvil.rpc.call('eth_accounts')) as [Hex];
  const code = readPackageBytecode('@uniswap/v2-core/build/UniswapV2Factory.json');
  const factory = await deployFrom(from, encodeDeploy(code, FACTORY, [from]));
  for (const [index, a] of market.tokens.entries()) {
    const b = market.tokens[(index + 1) % market.tokens.length]!;
    const tokens = [a.address, b.address];
    market.maker.add({ from, to: factory, gas: 6_000_000, data: encodeCall(FACTORY, 'createPair', tokens) });
    await market.mine();
    const pair = String(await readContract(anvil.rpc, FACTORY, factory, 'getPair', tokens));
    pairs.push(pair.toLowerCase() as Hex);
    const [first, second] = a.address < b.address ? [a, b] : [b, a];
    const amounts = [first, second].map(
      ({ decimals }) => BigInt(random.int(1_000, 3_000)) * 10n ** BigInt(decimals),
    );
    // Tokens without decimals need many units, so that the rounding of the amounts does not hide the price.
    const raised = amounts.map((amount) => (amount < 10n ** 12n ? amount * 10n ** 9n : amount));
    market.add(market.trader, SOLIDLY_TRADER, 'mint', [pairs.at(-1), ...raised]);
    await follow(await market.mine());
  }
});

afterAll(() => anvil?.stop());

async function deployFrom(from: Hex, data: Hex): Promise<Hex> {
  market.maker.add({ from, to: null, gas: 6_000_000, data });
  const receipts = await receiptsOf(await market.mine());
  return receipts[0]!.contractAddress;
}

const receiptsOf = async (block: number) =>
  (await anvil.rpc.call('eth_getBlockReceipts', [numberToHex(block)])) as {
    readonly contractAddress: Hex;
    readonly logs: readonly ChainLog[];
  }[];

/** Reads the logs of a block as the ingester does. Each swap must pay our quote. Returns the number of swaps. */
async function follow(block: number): Promise<number> {
  let swaps = 0;
  for (const { logs } of await receiptsOf(block)) {
    let before = EMPTY_STATE;
    for (const log of logs.filter(({ address }) => pairs.includes(address))) {
      const event = uniswapV2.decodeEvent(log);
      if (event?.kind === 'sync') {
        before = states.get(log.address) ?? EMPTY_STATE;
        states.set(log.address, uniswapV2.applyEvent(before, event));
      }
      if (event?.kind !== 'swap') continue;
      swaps += 1;
      const isToken0In = event.amount0 > 0n;
      const [amountIn, amountOut] = isToken0In
        ? [event.amount0, event.amount1]
        : [event.amount1, event.amount0];
      expect(uniswapV2.quote(FEE, before, amountIn, isToken0In)).toBe(-amountOut);
    }
  }
  return swaps;
}

async function addAction(pair: Hex): Promise<void> {
  const { reserve0, reserve1 } = states.get(pair)!;
  const action = random.next();
  const part = BigInt(Math.round(10 ** -(0.7 + 3.3 * random.next()) * 1e9));
  const [share0, share1] = [(reserve0 * part) / 1_000_000_000n, (reserve1 * part) / 1_000_000_000n];
  if (action < 0.8) {
    const zeroForOne = random.chance(0.5);
    const amountIn = zeroForOne ? share0 : share1;
    const out = uniswapV2.quote(FEE, states.get(pair)!, amountIn, zeroForOne)!;
    const tooMuch = encodeCall(SOLIDLY_TRADER, 'swapPair', [pair, zeroForOne, amountIn, out + 1n]);
    await expect(
      anvil.rpc.call('eth_call', [{ to: market.trader, data: tooMuch }, 'latest']),
    ).rejects.toThrow('UniswapV2: K');
    market.add(market.trader, SOLIDLY_TRADER, 'swapPair', [pair, zeroForOne, amountIn, out]);
  } else if (action < 0.92) market.add(market.trader, SOLIDLY_TRADER, 'mint', [pair, share0, share1]);
  else market.add(market.trader, SOLIDLY_TRADER, 'burn', [pair, part, 1_000_000_000n]);
}

test('prices, reserves and quotes equal the pairs over random trades', async () => {
  let [trades, worst] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const pair of pairs) await addAction(pair);
    trades += await follow(await market.mine());
    for (const pair of pairs) {
      const data = encodeCall(PAIR, 'getReserves', []);
      const answer = String(await anvil.rpc.call('eth_call', [{ to: pair, data }, 'latest']));
      const [reserve0, reserve1] = PAIR.decodeFunctionResult('getReserves', answer) as unknown as [
        bigint,
        bigint,
      ];
      const state = states.get(pair)!;
      expect([state.reserve0, state.reserve1]).toEqual([reserve0, reserve1]);
      // A swap of almost nothing pays reserve1 / reserve0 before the fee, by the check of x·y = k in swap().
      const limit = Number((reserve1 * 10n ** 60n) / reserve0) / 1e60;
      worst = Math.max(worst, Math.abs(uniswapV2.spotPrice(state)! / limit - 1));
    }
  }
  recordOracle({
    protocol: 'uniswap_v2',
    oracle: 'pairs of @uniswap/v2-core, `getReserves` and the check of `swap`',
    trades,
    deviation: worst,
  });
});
