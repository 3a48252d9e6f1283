/** docs/protocols.md has a row for every protocol, whose text follows from the code, with the figures of its oracle test. */
import { PROTOCOLS } from '../../src/protocols/registry';
import { DEVIATION_MAX, describeProtocol, TRADES_MIN, writtenRows } from '../support/protocols/protocolTable';

const rows = writtenRows();

test('the table has one row for each protocol of the registry', () => {
  expect([...rows.keys()]).toEqual([...PROTOCOLS.keys()]);
});

test.each([...PROTOCOLS.values()])(
  'the row of $name follows from the code and its oracle test',
  (protocol) => {
    const cells = rows.get(protocol.name) ?? [];
    expect(cells.slice(0, 6)).toEqual(describeProtocol(protocol));
    const [oracle, trades, deviation] = cells.slice(6);
    expect(oracle).not.toBe('none');
    expect(Number(trades)).toBeGreaterThanOrEqual(TRADES_MIN);
    expect(Number(deviation)).toBeLessThan(DEVIATION_MAX);
  },
);
