/** Licenses as SPDX identifiers. */

/** The license identifier in a source file. https://docs.soliditylang.org/en/latest/layout-of-source-files.html */
export function findLicense(content: string): string | null {
  return /SPDX-License-Identifier:[ \t]*([\w.+-]{1,60})/.exec(content)?.[1] ?? null;
}
