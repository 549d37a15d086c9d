import type { SecretVault } from "@svc/connections";
import { isObject, type ProjectId } from "@svc/core";

/** Where a secret of the project is filled in among the arguments of a call, and what is written before its value. */
export type SecretUse = { readonly name: string; readonly prefix: string; readonly path: readonly (string | number)[] };

type Params = Readonly<Record<string, unknown>>;

/** Arguments with their secrets filled in, and the values that no text may repeat; or the secret that is not there. */
export type FilledIn = { readonly args: Params; readonly values: readonly string[] } | { readonly missing: string };

/** Fills secrets in, each with its present value. Rejects when the store is away, or a value does not open. */
export async function fillSecrets(
  vault: SecretVault,
  projectId: ProjectId,
  { args, uses }: { readonly args: Params; readonly uses: readonly SecretUse[] },
): Promise<FilledIn> {
  if (uses.length === 0) return { args, values: [] };
  const values = await vault.open(
    projectId,
    uses.map(({ name }) => name),
  );
  let filled: unknown = args;
  for (const { name, prefix, path } of uses) {
    const value = values.get(name);
    if (value === undefined) return { missing: name };
    filled = withValue(filled, path, `${prefix}${value}`);
  }
  return { args: filled as Params, values: [...values.values()] };
}

/** A copy with a value at a path; the same where the path leads to nothing any more. */
function withValue(target: unknown, [step, ...rest]: SecretUse["path"], value: string): unknown {
  if (step === undefined) return value;
  if (Array.isArray(target)) {
    return target.map((item: unknown, index) => (index === step ? withValue(item, rest, value) : item));
  }
  if (!isObject(target)) return target;
  const entries = Object.entries(target);
  return Object.fromEntries(entries.map(([name, item]) => [name, name === step ? withValue(item, rest, value) : item]));
}
