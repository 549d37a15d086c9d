import { bindBaseUrl, hostArguments, type Toolkit } from "@svc/catalog";
import type { AddressGuard, Fault } from "@svc/core";
import { connectionFaults } from "./errors.ts";

type Variables = Readonly<Record<string, string>>;

const valueLengthMax = 500;

/**
 * Checks the account variables (values that a person enters when connecting an account). The app's toolkit must declare each variable, and
 * each value must have the declared form. svc must also be allowed to connect to the address that contains the values. Throws
 * ACCOUNT_VARIABLE_MISSING, ACCOUNT_VARIABLE_UNKNOWN or ACCOUNT_VARIABLE_INVALID.
 */
export function checkVariables(toolkit: Toolkit, variables: Variables, guard: AddressGuard): void {
  const missing = toolkit.account.filter(({ name }) => !Object.hasOwn(variables, name) || variables[name] === "");
  if (missing.length > 0) throw connectionFaults.ACCOUNT_VARIABLE_MISSING(toolkit.slug, missing);
  const declared = new Set(toolkit.account.map(({ name }) => name));
  const unknown = Object.keys(variables).filter((name) => !declared.has(name));
  if (unknown.length > 0) throw connectionFaults.ACCOUNT_VARIABLE_UNKNOWN(toolkit, unknown);
  for (const { name, example, accepts } of toolkit.account) {
    const value = variables[name] ?? "";
    const hasForm = value.length <= valueLengthMax && !/\p{Cc}/u.test(value) && accepts(value);
    if (!hasForm)
      throw connectionFaults.ACCOUNT_VARIABLE_INVALID(name, variables, {
        why: "does not have the declared form",
        example,
      });
  }
  checkAddress(toolkit, variables, guard);
}

function checkAddress(toolkit: Toolkit, variables: Variables, guard: AddressGuard): void {
  // Call arguments fill one label of the host in front of a fixed domain. The check of the address uses the label `a`, because the label
  // does not affect the result.
  const params = Object.fromEntries(hostArguments(toolkit).map((name) => [name, "a"]));
  const bound = bindBaseUrl(toolkit, { account: variables, params });
  if ("unbound" in bound) return;
  if ("fault" in bound) throw invalidAddress(toolkit, variables, bound.fault);
  const verdict = guard.judgeUrl(new URL(bound.url));
  if (verdict.allowed) return;
  throw invalidAddress(
    toolkit,
    variables,
    `leads to a ${verdict.range} address, which this deployment does not connect to`,
  );
}

/**
 * Returns the error for an invalid address. The error names the account variable that `fault` mentions. If `fault` mentions no variable,
 * the error names the first variable that is a part of the address.
 */
function invalidAddress({ account }: Toolkit, variables: Variables, fault: string): Fault {
  const at =
    account.find(({ name }) => fault.startsWith(`account.${name} `)) ?? account.find((one) => one.decidesOrigin);
  const why = `makes no address that svc may connect to: ${fault}`;
  return connectionFaults.ACCOUNT_VARIABLE_INVALID(at?.name ?? "", variables, { why, example: at?.example ?? "" });
}
