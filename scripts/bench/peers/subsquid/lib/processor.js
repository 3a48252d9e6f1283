'use strict';
/** The squid, with RPC only and no gateway. Tuned for backfill: no hot blocks, plain inserts, large call batches. */
const { event, indexed } = require('@subsquid/evm-abi');
const { address, uint112, uint256 } = require('@subsquid/evm-codec');
const { EvmBatchProcessor } = require('@subsquid/evm-processor');
const { TypeormDatabase } = require('@subsquid/typeorm-store');

const { Swap, Sync } = require('./model');

const pairCreated = event(
  '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9',
  'PairCreated(address,address,address,uint256)',
  { token0: indexed(address), token1: indexed(address), pair: address, length: uint256 },
);
const swap = event(
  '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
  'Swap(address,uint256,uint256,uint256,uint256,address)',
  {
    sender: indexed(address),
    amount0In: uint256,
    amount1In: uint256,
    amount0Out: uint256,
    amount1Out: uint256,
    to: indexed(address),
  },
);
const sync = event(
  '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1',
  'Sync(uint112,uint112)',
  { reserve0: uint112, reserve1: uint112 },
);

const factory = process.env.PEER_FACTORY;
const processor = new EvmBatchProcessor()
  .setRpcEndpoint({ url: process.env.PEER_RPC, capacity: 10, maxBatchCallSize: 100 })
  .setFinalityConfirmation(64)
  .setBlockRange({ from: 0, to: Number(process.env.PEER_TO) })
  .setFields({ log: { address: true, topics: true, data: true, transactionHash: true } })
  .addLog({ address: [factory], topic0: [pairCreated.topic] })
  .addLog({ topic0: [swap.topic, sync.topic] });

const pairs = new Set();

processor.run(
  new TypeormDatabase({ supportHotBlocks: false, isolationLevel: 'READ COMMITTED' }),
  async ({ blocks, store }) => {
    const swaps = [];
    const syncs = [];
    for (const { header, logs } of blocks) {
      for (const log of logs) {
        const topic = log.topics[0];
        if (log.address === factory && topic === pairCreated.topic) pairs.add(pairCreated.decode(log).pair);
        if (!pairs.has(log.address)) continue;
        const row = {
          id: log.id,
          pair: log.address,
          block: header.height,
          timestamp: Math.floor(header.timestamp / 1000),
          transaction: log.transactionHash,
        };
        if (topic === swap.topic) swaps.push(new Swap({ ...row, ...swap.decode(log) }));
        else if (topic === sync.topic) syncs.push(new Sync({ ...row, ...sync.decode(log) }));
      }
    }
    await store.insert(swaps);
    await store.insert(syncs);
  },
);
