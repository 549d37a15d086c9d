import { useQuery } from "@connectrpc/connect-query";
import { parseExactJson } from "@svc/core/exact-json";
import type { Tool } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { useState } from "react";
import type { ObjectShape } from "../../../form/read-schema.ts";
import { valuesOf, withoutSecrets } from "../../../form/value.ts";
import { argumentsText, confirmsItself, type TypedArguments, textFault } from "./arguments.ts";
import { type KeptInput, keepInput } from "./kept-input.ts";

const accountsMax = 500;

/** The user's input for a tool call that is being tried: the entity (customer or user) and the arguments. */
export type TryInput = {
  readonly entity: string;
  /**
   * Entities (customers or users) that have an active account of the tool's app. If the sandbox is on, only accounts of the sandbox count.
   * If it is off, only real accounts count.
   */
  readonly entities: readonly string[];
  readonly typed: TypedArguments;
  readonly argumentsJson: string;
  /** An error in the arguments that the page found without the service; undefined if there is none. */
  readonly fault: string | undefined;
  readonly setEntity: (entity: string) => void;
  readonly setTyped: (typed: TypedArguments) => void;
};

/**
 * Returns the user's input for a tool call, and keeps it in the browser without sensitive values. The default entity (customer or user) is
 * the first that has an account.
 */
export function useTryInput({
  projectId,
  tool,
  shape,
  initial,
  isSandbox,
}: {
  projectId: string;
  tool: Tool;
  shape: ObjectShape;
  initial: KeptInput | undefined;
  isSandbox: boolean;
}): TryInput {
  const [chosen, setChosen] = useState(initial?.entity);
  const [typed, setTyped] = useState<TypedArguments>({ mode: "form", values: initial?.values ?? {} });
  const accounts = useQuery(ConnectionsService.method.listConnections, {
    toolkitSlug: tool.toolkitSlug,
    state: "active",
    pageSize: accountsMax,
  });
  const usable = accounts.data?.accounts.filter(({ sandbox }) => sandbox === isSandbox) ?? [];
  const entities = [...new Set(usable.map(({ entityId }) => entityId))].filter((entity) => entity !== "");
  const entity = chosen ?? entities[0] ?? "";
  const keep = (of: string, what: TypedArguments) => {
    if (what.mode === "json" && textFault(what.text) !== undefined) return;
    const values = what.mode === "form" ? what.values : valuesOf(parseExactJson(what.text));
    keepInput(projectId, tool.slug, { entity: of, values: withoutSecrets(shape, values) });
  };
  const argumentsJson = argumentsText(typed);
  return {
    entity,
    entities,
    typed,
    argumentsJson,
    fault: faultOf(typed, tool.accessClass === "destructive"),
    setEntity: (next) => {
      setChosen(next);
      keep(next, typed);
    },
    setTyped: (next) => {
      setTyped(next);
      keep(entity, next);
    },
  };
}

function faultOf(typed: TypedArguments, isDestructive: boolean): string | undefined {
  if (typed.mode === "form") return undefined;
  const fault = textFault(typed.text);
  if (fault !== undefined || !isDestructive || !confirmsItself(typed.text)) return fault;
  return "Leave confirm out. Confirm and send sets it after you have seen the request.";
}
