/** Parses the options of the programs in scripts, each written as `--name value`. */
import { parseArgs } from 'node:util';

export interface Options {
  text(name: string, fallback: string): string;
  /** Parses a number. Throws for anything except a number above 0. */
  number(name: string, fallback: number): number;
}

/** Ends the process for `--help` (code 0) and for an unknown option (code 1), and prints the usage in both cases. */
export function readOptions(usage: string, names: readonly string[]): Options {
  const knownOptions = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  let values: Readonly<Record<string, string | boolean | undefined>>;
  try {
    values = parseArgs({ options: { ...knownOptions, help: { type: 'boolean' } } }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}\n`);
    process.exit(1);
  }
  if (values['help'] === true) {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  const text = (name: string, fallback: string): string => String(values[name] ?? fallback);
  return {
    text,
    number(name, fallback) {
      const value = Number(text(name, String(fallback)));
      if (Number.isFinite(value) && value > 0) return value;
      throw new Error(`--${name}: got ${text(name, String(fallback))}; allowed: a number above 0`);
    },
  };
}
