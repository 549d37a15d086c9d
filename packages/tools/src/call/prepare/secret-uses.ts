import type { SecretVault } from "@svc/connections";
import { isObject, type ProjectId } from "@svc/core";

/**
 * Use of a project's secret in the arguments of a tool call. `name`: the secret. `path`: path of the argument. `prefix`: text before the
 * secret in the argument.
 */
export type SecretUse = { readonly name: string; readonly prefix: string; readonly path: readonly (string | number)[] };

type Params = Readonly<Record<string, unknown>>;

/**
 * Result of filling secrets into arguments. `args`: the arguments with the values of the secrets. `values`: these secret values; messages
 * must not contain them. `missing`: the name of a secret that the project does not have; then nothing was filled in.
 */
export type FilledArguments =
  | { readonly args: Params; readonly values: readonly string[] }
  | { readonly missing: string };

/**
 * Returns the arguments with current values of the secrets filled in. Rejects if the database is unavailable or a value cannot be
 * decrypted.
 */
export async function fillSecrets(
  vault: SecretVault,
  projectId: ProjectId,
  { args, uses }: { readonly args: Params; readonly uses: readonly SecretUse[] },
): Promise<FilledArguments> {
  if (uses.length === 0) return { args, values: [] };
  const values = await vault.open(
    projectId,
    uses.map(({ name }) => name),
  );
  let filled: unknown = args;
  const hidden = new Set(values.values());
  for (const { name, prefix, path } of uses) {
    const value = values.get(name);
    if (value === undefined) return { missing: name };
    filled = withValue(filled, path, `${prefix}${value}`);
    if (/^basic $/i.test(prefix)) for (const part of partsOfBasic(value)) hidden.add(part);
  }
  return { args: filled as Params, values: [...hidden] };
}

/** Returns the decoded text (`name:password`) of an HTTP Basic value, and the password alone. Both must be masked. */
function partsOfBasic(value: string): readonly string[] {
  const pair = Buffer.from(value, "base64").toString("utf8");
  return [pair, pair.slice(pair.indexOf(":") + 1)];
}

/** Returns a copy of `target` with a value at a path. If the path no longer exists, returns `target` unchanged. */
function withValue(target: unknown, [step, ...rest]: SecretUse["path"], value: string): unknown {
  if (step === undefined) return value;
  if (Array.isArray(target)) {
    return target.map((item: unknown, index) => (index === step ? withValue(item, rest, value) : item));
  }
  if (!isObject(target)) return target;
  const entries = Object.entries(target);
  return Object.fromEntries(entries.map(([name, item]) => [name, name === step ? withValue(item, rest, value) : item]));
}
