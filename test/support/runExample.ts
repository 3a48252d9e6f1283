/** Runs example programs of the docs page for real: in a shell, in Node.js and in Python. */
import { spawn, spawnSync } from 'node:child_process';

import type { Language } from '../../src/web/docs/examples';

const PROGRAMS: Readonly<Record<Language, (text: string) => readonly [program: string, ...args: string[]]>> =
  {
    curl: (text) => ['bash', '-c', text],
    javascript: (text) => [process.execPath, '--input-type=module', '-e', text],
    python: (text) => ['python3', '-c', text],
  };

/** Whether this machine can run the language. Only Python may be missing. */
export function canRun(language: Language): boolean {
  return language !== 'python' || spawnSync('python3', ['--version']).status === 0;
}

interface ExampleRun {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs the text in `folder`. With `until`, the run ends as soon as the output has this text. */
export function runExample(
  language: Language,
  text: string,
  folder: string,
  until?: string,
): Promise<ExampleRun> {
  const [program, ...args] = PROGRAMS[language](text);
  const child = spawn(program, args, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { output: '', errors: '' };
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (texts.errors += chunk));
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    texts.output += chunk;
    // The shell of curl has a child of its own, so the whole group ends.
    if (until !== undefined && texts.output.includes(until) && child.pid !== undefined)
      process.kill(-child.pid, 'SIGKILL');
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, ...texts }));
  });
}

/**
 * Joins examples of one language to one program, because a start of Node.js or Python takes longer than an example. Each
 * part has its own names. A line with `mark` follows the output of each part.
 */
export function joinExamples(language: Language, texts: readonly string[], mark: string): string {
  if (language === 'curl') return texts.map((text) => `${text} -sS && echo '\n${mark}'`).join(' && ');
  if (language === 'javascript')
    return texts.map((text) => `{\n${text}\n}\nconsole.log(${JSON.stringify(mark)});`).join('\n');
  const parts = JSON.stringify(texts);
  return `for part in ${parts}:\n    exec(part, {})\n    print(${JSON.stringify(mark)}, flush=True)\n`;
}
