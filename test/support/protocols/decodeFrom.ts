/** Decodes the newest block of a local node as the ingester does, with the details of the pools that it creates. */
import { findBuiltInChain } from '../../../src/chains/builtIn/builtInChains';
import { getBlockHead, type DevRpc } from '../../../src/dev/node/devRpc';
import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import { numberToHex, type Hex } from '../../../src/domain/hex';
import { decodeBlock } from '../../../src/ingest/decode/decodeBlock';
import type { DecodeContext } from '../../../src/ingest/decode/decodeContext';
import { ManyTokenDiscovery } from '../../../src/ingest/pools/discoverManyTokenPools';
import { readCreations } from '../../../src/ingest/pools/poolDetails';
import type { BlockFacts, SwapFact } from '../../../src/ingest/rows/blockRows';
import { createDecodeContext } from '../../../src/ingest/session/runIngest';
import { newIngestStatus } from '../../../src/ingest/session/status';
import { createLog } from '../../../src/log';
import type { EthCalls } from '../../../src/node/calls/askContracts';
import { RpcError } from '../../../src/node/rpc/rpcError';
import type { ManyTokenState } from '../../../src/protocols/manyTokenProtocol';

type NodeLog = Omit<ChainLog, 'logIndex' | 'transactionIndex'> & { logIndex: Hex; transactionIndex: Hex };

export async function decodeNewest(context: DecodeContext, rpc: DevRpc): Promise<BlockFacts> {
  return decodeNumber(context, rpc, (await getBlockHead(rpc)).number);
}

export async function decodeNumber(context: DecodeContext, rpc: DevRpc, number: number): Promise<BlockFacts> {
  const block = await readNodeBlock(rpc, number);
  return decodeBlock(context, block, [], false, await readCreations(callsOf(rpc), context, [block], false));
}

/** The block with its logs, without transactions. */
export async function readNodeBlock(rpc: DevRpc, number: number): Promise<ChainBlock> {
  const at = numberToHex(number);
  const receipts = (await rpc.call('eth_getBlockReceipts', [at])) as { logs: NodeLog[] }[];
  const { hash, parentHash, timestamp } = (await rpc.call('eth_getBlockByNumber', [at, false])) as {
    hash: Hex;
    parentHash: Hex;
    timestamp: Hex;
  };
  return {
    number,
    hash,
    parentHash,
    timestamp: Number(timestamp),
    baseFeePerGas: null,
    transactionCount: receipts.length,
    transactions: [],
    logs: receipts
      .flatMap(({ logs }) => logs)
      .map((log) => ({
        ...log,
        logIndex: Number(log.logIndex),
        transactionIndex: Number(log.transactionIndex),
      })),
    proof: 'full',
  };
}

/** A call that the node refuses is a revert. */
function callsOf(rpc: DevRpc): EthCalls {
  return {
    batchOutcomes: (calls, parse) =>
      Promise.all(
        calls.map(async ({ method, params }, index) => {
          try {
            return { value: parse(await rpc.call(method, params), index) };
          } catch (cause) {
            return { error: new RpcError('revert', 'the node refused the call', { cause }) };
          }
        }),
      ),
  };
}

interface VaultReader {
  /** The newest state of a known pool. */
  stateOf(pool: { readonly address: Hex }): ManyTokenState;
  /** Decodes a block. Returns the swaps of pools that were known before it, each with the state before the block. */
  follow(number: number): Promise<{ swap: SwapFact; before: ManyTokenState }[]>;
}

/** Follows the pools of a vault on a local node, which is asked about them. */
export function openVaultReader(rpc: DevRpc, protocol: string, factory: Hex): VaultReader {
  const log = createLog('silent', false);
  const dexes = [{ name: 'vault', displayName: 'Vault', protocol, factory }];
  const chain = { ...findBuiltInChain(369)!, dexes };
  const context = createDecodeContext({ chain, status: newIngestStatus(), log });
  const { registry, baseIsToken0 } = context;
  const quoteRank = (): number => Infinity;
  const discovery = new ManyTokenDiscovery({ rpc: callsOf(rpc), dexes, baseIsToken0, quoteRank, log });
  const pools = new Set<Hex>();
  return {
    stateOf: ({ address }) => registry.findManyTokenPool(address)!.state,
    async follow(number) {
      const block = await readNodeBlock(rpc, number);
      const before = new Map([...pools].map((pool) => [pool, registry.findManyTokenPool(pool)!.state]));
      const findings = await discovery.discover([block], registry, false);
      const facts = decodeBlock(context, block, findings, false);
      for (const { address } of facts.pools) pools.add(address);
      return facts.swaps.flatMap((swap) => {
        const state = before.get(swap.pair);
        return state === undefined ? [] : [{ swap, before: state }];
      });
    },
  };
}
