/** Formats zod issues for operators: the path of each field, its value and what is allowed. */
import type { core } from 'zod';

import { redactUrls, shorten } from './redactUrls';

/**
 * Returns one text per wrong field, such as `dexes.0.factory: got "0x12"; allowed: …`. The messages in the
 * zod schema must name the allowed values. `input` is the parsed value; the wrong values are taken from it.
 */
export function describeIssues(issues: readonly core.$ZodIssue[], input: unknown): string[] {
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => `${[...issue.path, key].join('.')}: unknown key`);
    }
    const name = issue.path.join('.');
    const gotText = showValue(valueAt(input, issue.path));
    return [`${name === '' ? 'file' : name}: got ${gotText}; allowed: ${issue.message}`];
  });
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

/**
 * Writes a JSON value for a message, shortened. Texts that may be URLs are cut to scheme and host, because
 * the rest may contain secrets.
 */
export function showValue(value: unknown): string {
  const hide = (_key: string, each: unknown): unknown =>
    typeof each === 'string' && /[:/@]/.test(each) ? redactUrls(each) : each;
  return shorten(JSON.stringify(value, hide) ?? 'nothing');
}
