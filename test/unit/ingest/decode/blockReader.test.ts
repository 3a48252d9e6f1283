/** Metadata of the native coin, which is no contract, in the ingester on the model of the store. */
import { id } from 'ethers';

import { ZERO_ADDRESS, type Hex } from '../../../../src/domain/hex';
import { lastOrdOfBlock } from '../../../../src/domain/ord';
import { SIM_ANCHORS } from '../../../simulation/chain/simChain';
import { headerOf } from '../../../simulation/chain/simNode';
import { answerPairCall } from '../../../simulation/chain/simPairCalls';
import { blockOf } from '../../../simulation/chain/vaultWorld';
import { V4Pool, V4_MANAGER } from '../../../simulation/chain/moving/simV4';
import { fieldsOf, modelContent, readTip } from '../../../simulation/compare/storedContent';
import { openCalmSession } from '../../../simulation/harness';
import { createModelBackend } from '../../../simulation/modelBackend';
import { answeringCalls } from '../../../support/node/vaultSetup';
import { dataOf, digest, topicOf, type Draft } from '../../../support/plainLogs';
import { Random } from '../../../support/random';

const ONE = 10n ** 18n;
const ROOT = 1n << 96n;
const POOL: Hex = digest('pool of the native coin', 32);
const SWAP_TOPIC = id('Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)') as Hex;
const SWAP: Draft = {
  address: V4_MANAGER,
  topics: [SWAP_TOPIC, POOL, topicOf(digest('trader', 20))],
  data: dataOf(-ONE, ONE, ROOT, 1_000_000n * ONE, 0n, 3_000n),
};
const facts = { token0: ZERO_ADDRESS, token1: SIM_ANCHORS[0]!, hooks: ZERO_ADDRESS, hookBits: 0 };
const pool = new V4Pool({ kind: 'v4', id: POOL, isDynamic: false, ...facts }, { sqrtPrice: ROOT, tick: 0 });

const blocks = Array.from({ length: 10 }, (_, number) =>
  blockOf(number, number === 3 ? [[pool.initialize(new Random(1)), SWAP]] : number === 9 ? [[SWAP]] : []),
);
const rpc = answeringCalls(({ to, data }) => {
  const answer = answerPairCall([], to, data);
  return answer === 'revert' ? null : answer;
});

test('two restarts near the first pool of the native coin do not lose its decimals', async () => {
  const { engine, steady } = createModelBackend();
  /** One run of the process, which sees these heads. */
  const live = async (depth: number, ...heads: readonly number[]): Promise<void> => {
    const chain = { head: blocks.at(-1)!, at: (number: number) => blocks[number] };
    const options = { rpc, base: blocks[0]!, depth, commitSeed: depth + heads.length };
    const session = await openCalmSession(chain, steady, { ...options, limits: { promoteMinBlocks: 1 } });
    for (const head of heads) await session.advanceTo(headerOf(blocks[head]!));
    await session.promoted();
    await session.close();
  };
  await live(20, 6);
  // The second run reads the coin again, and then the block of its pool becomes final.
  await live(3, 6);
  // For the third run, the coin belongs to a final pool, and its row is from a block that is not final.
  await live(3, 8, 9);
  const { rows } = modelContent(engine, (await readTip(steady))!);
  const swaps = rows.get('swaps')!.map((row) => fieldsOf('swaps', row));
  expect(swaps.map(({ ord }) => Number(ord) > lastOrdOfBlock(3))).toEqual([false, true]);
  expect(swaps.map(({ price_usd: usd }) => usd)).toEqual([1, 1]);
});
