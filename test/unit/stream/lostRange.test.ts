/** Tests the gap message that tells a slow client which events it lost. */
import { LostRange } from '../../../src/stream/lostRange';
import {
  gapMessage,
  parsePosition,
  reorgMessage,
  type StreamMessage,
} from '../../../src/stream/streamMessage';
import { toOrd } from '../../../src/domain/ord';

const HASH8 = 'abcdef01';

function event(block: number, logIndex: number): StreamMessage {
  const ord = toOrd(block, logIndex);
  return { bytes: Buffer.alloc(0), id: `${block}-${logIndex}-${HASH8}`, reach: { kind: 'event', ord } };
}

function reorg(fromBlock: number, toBlock: number): StreamMessage {
  return reorgMessage({ number: fromBlock - 1, hash8: HASH8 }, toBlock, ['1-1']);
}

function told(messages: readonly StreamMessage[]): string[] {
  const lost = new LostRange();
  for (const message of messages) lost.add(message);
  return lost.toMessages().map((message) => message.bytes.toString());
}

const gap = (from: string, to: string, id: string): string =>
  `id: ${id}-${HASH8}\nevent: gap\ndata: {"from_id":"${from}","to_id":"${to}"}\n\n`;
const late = (from: number, to: number): string =>
  `id: ${from - 1}-1048575-${HASH8}\nevent: reorg\ndata: {"from_block":${from},"to_block":${to},"removed_ids":null}\n\n`;

test('lost events make one gap from the first to the last', () => {
  expect(told([event(5, 1), event(5, 3), event(7, 0)])).toEqual([gap('5-1', '7-0', '7-0')]);
});

test('a lost reorg is sent before the gap of the events that replace the removed ones', () => {
  expect(told([reorg(5, 6), event(5, 0), event(6, 2)])).toEqual([late(5, 6), gap('5-0', '6-2', '6-2')]);
});

test('lost events that a later reorg removed make no gap', () => {
  expect(told([event(5, 1), event(6, 1), reorg(5, 6)])).toEqual([late(5, 6)]);
});

test('a reorg above the first lost event removes nothing at the client and shortens the gap', () => {
  expect(told([event(5, 1), event(7, 1), reorg(7, 7), event(8, 1)])).toEqual([gap('5-1', '8-1', '8-1')]);
  expect(told([event(5, 1), event(7, 1), reorg(7, 7)])).toEqual([gap('5-1', '6-1048575', '6-1048575')]);
});

test('of several lost reorgs, the deepest reorg is sent', () => {
  expect(told([reorg(9, 9), event(9, 0), reorg(4, 9), event(4, 0), reorg(8, 9)])).toEqual([
    late(4, 9),
    gap('4-0', '4-0', '7-1048575'),
  ]);
});

test('a lost gap message extends the gap', () => {
  const skipped = gapMessage(toOrd(8, 0), toOrd(9, 5), `9-5-${HASH8}`);
  expect(told([event(5, 1), skipped])).toEqual([gap('5-1', '9-5', '9-5')]);
});

test.each([
  '',
  '1',
  '1-',
  '-1-2',
  '1-1048576',
  '4294967296-0',
  '1-2-abc',
  '1-2-abcdefgh',
  '1-2-abcdef012',
  '1-2 ',
])('the event id %j is refused', (text) => expect(parsePosition(text)).toBeNull());

test('an event id is parsed with and without its hash', () => {
  expect(parsePosition('12-3')).toEqual({ ord: toOrd(12, 3), hash8: null });
  expect(parsePosition('12-1048575-ABCDEF01')).toEqual({ ord: toOrd(12, 1_048_575), hash8: 'abcdef01' });
});
