/** The actions of module=gastracker: gas price recommendations from the newest blocks. */
import { formatUnits } from '../../../domain/amounts';
import { findBlockTime } from '../../../query/head/blockTimes';
import {
  countAcceptingBlocks,
  GAS_BLOCKS,
  gasQuantile,
  listGasBlocks,
} from '../../../query/overview/gasPrices';
import type { ChainMoment } from '../../explorerScope';
import type { Action, Actions, Ask } from '../action';
import { ok, refuse, TEXTS } from '../answers';
import { badFormat, textOf } from '../askedParams';

const GWEI_DECIMALS = 9;
/** Quantiles of the paid gas prices that the recommendations use. */
const [SAFE, PROPOSED, FAST] = [0.1, 0.5, 0.9];

export const gasActions: Actions = new Map<string, Action>([
  ['gasoracle', getGasOracle],
  ['gasestimate', getGasEstimate],
]);

/** Prices in gwei as decimal texts. `gasUsedRatio` is empty, because no table holds the gas used by
 * blocks. */
async function getGasOracle({ moment }: Ask) {
  if (moment === null) return refuse(TEXTS.action);
  const { chain, head } = moment;
  const blocks = await listGasBlocks(chain.runner, chain.chainId, head);
  const [safe, proposed, fast] = [SAFE, PROPOSED, FAST].map((share) => gasQuantile(blocks, share));
  if (safe == null || proposed == null || fast == null) return refuse(TEXTS.action);
  const gwei = (wei: bigint): string => formatUnits(wei, GWEI_DECIMALS);
  const baseFee = blocks.at(-1)?.baseFee ?? null;
  return ok({
    LastBlock: String(head.number),
    SafeGasPrice: gwei(safe),
    ProposeGasPrice: gwei(proposed),
    FastGasPrice: gwei(fast),
    suggestBaseFee: baseFee === null ? '' : gwei(baseFee),
    gasUsedRatio: '',
  });
}

/** Estimated seconds until a transaction at `gasprice` (wei) is included, from the rate of the newest blocks. */
async function getGasEstimate({ asked, moment }: Ask) {
  const text = textOf(asked, 'gasprice');
  if (text === null || !/^\d{1,40}$/.test(text)) throw badFormat('gasprice');
  if (moment === null) return refuse(TEXTS.action);
  const [blocks, secondsPerBlock] = await Promise.all([
    listGasBlocks(moment.chain.runner, moment.chain.chainId, moment.head),
    blockSeconds(moment),
  ]);
  if (blocks.length === 0 || secondsPerBlock === null) return refuse(TEXTS.action);
  const including = countAcceptingBlocks(blocks, BigInt(text));
  // If no examined block would have included the transaction, the estimate is one block more than were
  // examined.
  const expectedBlocks = including === 0 ? blocks.length + 1 : blocks.length / including;
  return ok(String(Math.ceil(expectedBlocks * secondsPerBlock)));
}

/** Mean time between the newest blocks, in seconds. Null if there are fewer than two blocks. */
async function blockSeconds({ chain, head }: ChainMoment): Promise<number | null> {
  const first = Math.max(head.startBlock, head.number - GAS_BLOCKS);
  if (first >= head.number) return null;
  const firstTimestamp = await findBlockTime(chain.runner, chain.chainId, head, first);
  return firstTimestamp === null ? null : (head.timestamp - firstTimestamp) / (head.number - first);
}
