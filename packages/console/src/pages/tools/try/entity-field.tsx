import type { Tool } from "@svc/gen/catalog";
import { Link } from "@tanstack/react-router";
import { SuggestField } from "../../../ui/fields/suggest-field.tsx";
import type { Check } from "./use-calls.ts";
import type { TryInput } from "./use-try.ts";

/** Outcomes of a check that are about the account. */
const ofAccount: readonly string[] = ["no_account", "account_unusable", "missing_scope"];

/** For whom a call is made, and whether that entity has an account for it. */
export function EntityField({
  projectId,
  tool: { toolkitSlug },
  input: { entity, entities, setEntity },
  check: { answer },
}: {
  projectId: string;
  tool: Tool;
  input: TryInput;
  check: Check;
}) {
  const isAtFault = answer !== undefined && ofAccount.includes(answer.outcome);
  const connect = (
    <Link
      to="/p/$projectId/accounts"
      params={{ projectId }}
      search={{ connect: toolkitSlug, for: entity || undefined }}
    >
      Connect an account
    </Link>
  );
  return (
    <SuggestField
      label="As entity"
      value={entity}
      suggestions={entities}
      onChange={setEntity}
      hint={
        <>
          {entities.includes(entity) ? `Has an active account of ${toolkitSlug}.` : connect}
          {isAtFault && entities.includes(entity) && <> {connect}</>}
        </>
      }
      fault={isAtFault ? answer.message : undefined}
    />
  );
}
