/** The second chain's problems, as /readyz lists them beside the market chain's. */
import { judge } from '../../src/api/service/readyz';
import { listSecondProblems } from '../../src/commands/secondChain';
import { finalHead } from '../support/finalHead';

const GAP = { code: 'gap_refilling', message: 'blocks 5 to 7 are read again' };

test('each problem of the second chain stands under a code of its own and names the chain', () => {
  const facts = { nodeHead: 9, nodeAnswers: false, problems: [GAP] };
  expect(listSecondProblems(facts)).toEqual([
    { code: 'node_away_943', message: 'Chain 943: The chain node does not answer' },
    { code: 'gap_refilling_943', message: 'Chain 943: blocks 5 to 7 are read again' },
  ]);
  expect(listSecondProblems({ ...facts, nodeAnswers: true, problems: [] })).toEqual([]);
});

test('they are told and leave the market as ready as it is', () => {
  const head = finalHead(9);
  const tail = { silenceMs: 1, headKnownMs: 1, lastError: null };
  const market = { nodeHead: 9, nodeAnswers: true, problems: [] };
  const second = listSecondProblems({ nodeHead: null, nodeAnswers: false, problems: [GAP] });
  const answer = judge(head, tail, market, 1_700_000_001_000, { more: second });
  expect([answer.ready, answer.problems]).toEqual([true, second]);
});
