/** Tests how /readyz lists the problems of an explorer chain beside the market chain's. */
import { judge } from '../../../src/api/service/readyz';
import { listChainProblems } from '../../../src/commands/chains';
import type { WriterFacts, WriterView } from '../../../src/stream/writerState';
import { finalHead } from '../../support/worlds/finalHead';

const listView = (view: WriterView | null) => listChainProblems({ chainId: 943 }, view);
const listFacts = (facts: WriterFacts) => listView({ facts, problems: [] });
const GAP = { code: 'gap_refilling', message: 'blocks 5 to 7 are read again' };

test('each problem of the second chain has a code and a message that name the chain', () => {
  const facts = { nodeHead: 9, nodeAnswers: false, problems: [GAP] };
  expect(listFacts(facts)).toEqual([
    { code: 'node_away_943', message: 'Chain 943: The chain node does not answer' },
    { code: 'gap_refilling_943', message: 'Chain 943: blocks 5 to 7 are read again' },
  ]);
  expect(listFacts({ ...facts, nodeAnswers: true, problems: [] })).toEqual([]);
});

test("a process without an ingester lists the end of the second chain's ingester", () => {
  expect(listView({ facts: null, problems: [{ code: 'writer_away', message: 'It ended' }] })).toEqual([
    { code: 'writer_away_943', message: 'Chain 943: It ended' },
  ]);
  expect(listView(null)).toEqual([]);
});

test('problems of the second chain are listed and do not make /readyz fail', () => {
  const head = finalHead(9);
  const tail = { silenceMs: 1, headKnownMs: 1, lastError: null };
  const market = { nodeHead: 9, nodeAnswers: true, problems: [] };
  const second = listFacts({ nodeHead: null, nodeAnswers: false, problems: [GAP] });
  const answer = judge(head, tail, market, 1_700_000_001_000, { more: second });
  expect(answer.ready).toBe(true);
  expect(answer.problems).toMatchObject(second);
});
