/** Tests how /readyz lists the second chain's problems beside the market chain's. */
import { judge } from '../../../src/api/service/readyz';
import { listSecondProblems, listSecondView } from '../../../src/commands/secondChain';
import { finalHead } from '../../support/worlds/finalHead';

const GAP = { code: 'gap_refilling', message: 'blocks 5 to 7 are read again' };

test('each problem of the second chain has a code and a message that name the chain', () => {
  const facts = { nodeHead: 9, nodeAnswers: false, problems: [GAP] };
  expect(listSecondProblems(facts)).toEqual([
    { code: 'node_away_943', message: 'Chain 943: The chain node does not answer' },
    { code: 'gap_refilling_943', message: 'Chain 943: blocks 5 to 7 are read again' },
  ]);
  expect(listSecondProblems({ ...facts, nodeAnswers: true, problems: [] })).toEqual([]);
});

test("a process without an ingester lists the problems of the second chain's ingester, and its end", () => {
  const facts = { nodeHead: 9, nodeAnswers: false, problems: [GAP] };
  expect(listSecondView({ facts, problems: [] })).toEqual(listSecondProblems(facts));
  expect(listSecondView({ facts: null, problems: [{ code: 'writer_away', message: 'It ended' }] })).toEqual([
    { code: 'writer_away_943', message: 'Chain 943: It ended' },
  ]);
  expect(listSecondView(null)).toEqual([]);
});

test('problems of the second chain are listed and do not make /readyz fail', () => {
  const head = finalHead(9);
  const tail = { silenceMs: 1, headKnownMs: 1, lastError: null };
  const market = { nodeHead: 9, nodeAnswers: true, problems: [] };
  const second = listSecondProblems({ nodeHead: null, nodeAnswers: false, problems: [GAP] });
  const answer = judge(head, tail, market, 1_700_000_001_000, { more: second });
  expect(answer.ready).toBe(true);
  expect(answer.problems).toMatchObject(second);
});
