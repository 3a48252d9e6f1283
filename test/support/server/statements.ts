/** Counts the statements that a running program sends to ClickHouse, by the metrics of the program. */

type Statements = readonly (readonly [name: string, count: number])[];

async function readCounts(url: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.matchAll(
    /^candlehouse_(?:query|statement)_seconds_count\{.*?name="([^"]+)".*?\} (\d+)$/gm,
  );
  const counts = new Map<string, number>();
  // The API and the ingester may send a statement of the same name.
  for (const [, name = '', count] of lines) counts.set(name, (counts.get(name) ?? 0) + Number(count));
  return counts;
}

/** The statements while `work` runs, the most frequent first. */
export async function watchStatements(url: string, work: () => Promise<unknown>): Promise<Statements> {
  const countsBefore = await readCounts(url);
  await work();
  const sentStatements = [...(await readCounts(url))].map(
    ([name, count]) => [name, count - (countsBefore.get(name) ?? 0)] as const,
  );
  return sentStatements.filter(([, count]) => count > 0).sort(([, countA], [, countB]) => countB - countA);
}

export function sumStatements(statements: Statements): number {
  return statements.reduce((sum, [, count]) => sum + count, 0);
}
