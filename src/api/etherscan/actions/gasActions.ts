/** The actions of module=gastracker: gas price recommendations from the newest blocks. */
import { formatUnits } from '../../../domain/amounts';
import { findBlockTime } from '../../../query/head/blockTimes';
import {
  countAcceptingBlocks,
  GAS_BLOCKS,
  gasQuantile,
  listGasBlocks,
} from '../../../query/overview/gasPrices';
import type { ChainAtHead } from '../../explorerScope';
import type { Action, Actions, Ask } from '../action';
import { ok, refuse, TEXTS } from '../answers';
import { badFormat, textOf } from '../askedParams';

const GWEI_DECIMALS = 9;
/** Quantiles of the paid gas prices that the recommendations use. */
const [SAFE_SHARE, PROPOSED_SHARE, FAST_SHARE] = [0.1, 0.5, 0.9];

export const gasActions: Actions = new Map<string, Action>([
  ['gasoracle', getGasOracle],
  ['gasestimate', getGasEstimate],
]);

/** Prices in gwei as decimal texts. `gasUsedRatio` is empty, because no table holds the gas used by
 * blocks. */
async function getGasOracle({ chainAtHead }: Ask) {
  if (chainAtHead === null) return refuse(TEXTS.unavailableAction);
  const { chain, head } = chainAtHead;
  const blocks = await listGasBlocks(chain.runner, chain.chainId, head);
  const [safeWei, proposedWei, fastWei] = [SAFE_SHARE, PROPOSED_SHARE, FAST_SHARE].map((share) =>
    gasQuantile(blocks, share),
  );
  if (safeWei == null || proposedWei == null || fastWei == null) return refuse(TEXTS.unavailableAction);
  const toGwei = (wei: bigint): string => formatUnits(wei, GWEI_DECIMALS);
  const baseFeeWei = blocks.at(-1)?.baseFee ?? null;
  return ok({
    LastBlock: String(head.number),
    SafeGasPrice: toGwei(safeWei),
    ProposeGasPrice: toGwei(proposedWei),
    FastGasPrice: toGwei(fastWei),
    suggestBaseFee: baseFeeWei === null ? '' : toGwei(baseFeeWei),
    gasUsedRatio: '',
  });
}

/** Estimated seconds until a transaction at `gasprice` (wei) is included, from the rate of the newest blocks. */
async function getGasEstimate({ asked, chainAtHead }: Ask) {
  const gasPriceText = textOf(asked, 'gasprice');
  if (gasPriceText === null || !/^\d{1,40}$/.test(gasPriceText)) throw badFormat('gasprice');
  if (chainAtHead === null) return refuse(TEXTS.unavailableAction);
  const [blocks, secondsPerBlock] = await Promise.all([
    listGasBlocks(chainAtHead.chain.runner, chainAtHead.chain.chainId, chainAtHead.head),
    blockSeconds(chainAtHead),
  ]);
  if (blocks.length === 0 || secondsPerBlock === null) return refuse(TEXTS.unavailableAction);
  const acceptingBlocks = countAcceptingBlocks(blocks, BigInt(gasPriceText));
  // If no examined block would have included the transaction, the estimate is one block more than were
  // examined.
  const expectedBlocks = acceptingBlocks === 0 ? blocks.length + 1 : blocks.length / acceptingBlocks;
  return ok(String(Math.ceil(expectedBlocks * secondsPerBlock)));
}

/** Mean time between the newest blocks, in seconds. Null if there are fewer than two blocks. */
async function blockSeconds({ chain, head }: ChainAtHead): Promise<number | null> {
  const firstBlock = Math.max(head.startBlock, head.number - GAS_BLOCKS);
  if (firstBlock >= head.number) return null;
  const firstTimestamp = await findBlockTime(chain.runner, chain.chainId, head, firstBlock);
  return firstTimestamp === null ? null : (head.timestamp - firstTimestamp) / (head.number - firstBlock);
}
