import { ponder } from 'ponder:registry';
import { swap, sync } from 'ponder:schema';

ponder.on('Pair:Swap', async ({ event, context }) => {
  const { sender, to, amount0In, amount1In, amount0Out, amount1Out } = event.args;
  await context.db.insert(swap).values({
    id: event.id,
    pair: event.log.address,
    block: Number(event.block.number),
    timestamp: Number(event.block.timestamp),
    transaction: event.transaction.hash,
    sender,
    to,
    amount0In,
    amount1In,
    amount0Out,
    amount1Out,
  });
});

ponder.on('Pair:Sync', async ({ event, context }) => {
  await context.db.insert(sync).values({
    id: event.id,
    pair: event.log.address,
    block: Number(event.block.number),
    timestamp: Number(event.block.timestamp),
    transaction: event.transaction.hash,
    reserve0: event.args.reserve0,
    reserve1: event.args.reserve1,
  });
});
