/**
 * Computes the product's rows for a chain in one undisturbed run: no restart, no reorg, no database, no node
 * with wrong answers. All other runs must store these bytes. The oracle checks the undisturbed run itself.
 */
import type { EthCalls } from '../../../src/node/calls/askContracts';
import { isHexData, type Hex } from '../../../src/domain/hex';
import { quoteRank } from '../../../src/domain/pools/orientPool';
import { RowWriter } from '../../../src/clickhouse/rows/rowWriter';
import { RpcError } from '../../../src/node/rpc/rpcError';
import type { ChainBlock } from '../../../src/domain/block';
import { BlockPricer } from '../../../src/ingest/price/blockPricer';
import type { BlockRows } from '../../../src/ingest/rows/blockRows';
import { decodeBlock } from '../../../src/ingest/decode/decodeBlock';
import { PoolDiscovery } from '../../../src/ingest/pools/discoverPools';
import { readCreations } from '../../../src/ingest/pools/poolDetails';
import { ManyTokenDiscovery } from '../../../src/ingest/pools/discoverManyTokenPools';
import { TABLE_ENCODERS } from '../../../src/ingest/rows/encodeBlocks';
import { createDecodeContext, configuredDexes } from '../../../src/ingest/session/runIngest';
import { newIngestStatus } from '../../../src/ingest/session/status';
import { createLog } from '../../../src/log';
import { hasManyTokens } from '../../../src/protocols/registry';
import { answerContract } from '../fleet/nodeAnswers';
import { codeOfTable } from '../model/modelTables';
import type { SimChain } from '../chain/simChain';
import { malformedAnswer } from '../../support/node/vaultSetup';
import { SIM_DESCRIPTION } from '../chain/simDescription';
import { simDecimals } from '../chain/simTokens';

const log = createLog('silent', false);

/** The contracts of the chain, on a node that never fails. `hashAt` returns the hash of the block for a tag
 * or a number. */
export function calmCalls(chain: SimChain, hashAt: (tag: string) => Hex | undefined): EthCalls {
  return {
    batchOutcomes: (calls, parse) =>
      Promise.resolve(
        calls.map(({ params }, index) => {
          const [{ to, data }, tag] = params as [{ to: Hex; data: Hex }, unknown];
          const hash = typeof tag === 'string' ? hashAt(tag)! : (tag as { blockHash: Hex }).blockHash;
          const answer = answerContract({ chain }, hash, to, data);
          if (answer === 'revert') return { error: new RpcError('revert', 'execution reverted') };
          if (answer === 'pruned') return { error: new RpcError('unknown_block', 'missing trie node') };
          return isHexData(answer) ? { value: parse(answer, index) } : { error: malformedAnswer };
        }),
      ),
  };
}

/** Sets up decoding, pool discovery and anchors of the chain as the ingester does. */
export function simDecoding(rpc: EthCalls, chain = SIM_DESCRIPTION) {
  const decode = createDecodeContext({ chain, status: newIngestStatus(), log });
  const { baseIsToken0, eventTopics, creationTopics } = decode;
  const vaults = chain.dexes.filter(({ protocol }) => hasManyTokens(protocol));
  const rankOf = (token: Hex): number => quoteRank(chain, token);
  const dexes = configuredDexes(chain);
  return {
    decode,
    manyTokenDiscovery: new ManyTokenDiscovery({ rpc, dexes: vaults, baseIsToken0, quoteRank: rankOf, log }),
    discovery: new PoolDiscovery({ rpc, dexes, eventTopics, creationTopics, baseIsToken0, log }),
    prices: { anchors: chain.anchors, wrappedNative: chain.wrappedNative },
    nativeSymbol: chain.nativeSymbol,
  };
}

/** Decodes and prices the blocks in order. Returns the rows of each block. */
export async function straightBlocks(
  chain: SimChain,
  blocks: readonly ChainBlock[],
  startBlock: number,
): Promise<BlockRows[]> {
  const firstNumber = blocks[0]?.number ?? 0;
  const rpc = calmCalls(
    chain,
    (tag) =>
      (tag === 'latest' ? blocks.at(-1) : (blocks[Number(tag) - firstNumber] ?? chain.at(Number(tag))))?.hash,
  );
  const { decode, manyTokenDiscovery, discovery, prices } = simDecoding(rpc);
  // Prices need the decimals of every token in a pool or transfer. simDecimals answers for any token.
  const pricer = new BlockPricer(prices, simDecimals);
  const allRows: BlockRows[] = [];
  for (const block of blocks) {
    const findings = startBlock > 1 ? await discovery.discover([block], decode.registry) : [];
    findings.push(...(await manyTokenDiscovery.discover([block], decode.registry, false)));
    const created = await readCreations(rpc, decode, [block], false);
    const facts = decodeBlock(decode, block, findings, false, created);
    allRows.push(pricer.price(facts, false));
  }
  return allRows;
}

/** Rows by table. Each row is its bytes as latin1 text. */
export async function straightRows(
  chain: SimChain,
  blocks: readonly ChainBlock[],
  startBlock: number,
): Promise<Map<string, string[]>> {
  const writers = TABLE_ENCODERS.map(() => new RowWriter());
  for (const rows of await straightBlocks(chain, blocks, startBlock))
    TABLE_ENCODERS.forEach((encoder, index) => encoder.write(writers[index]!, rows, null));
  return new Map(
    TABLE_ENCODERS.map(({ name }, index) => [
      name,
      codeOfTable(name)
        .split(writers[index]!.view(), false)
        .map(({ bytes }) => bytes.toString('latin1')),
    ]),
  );
}
