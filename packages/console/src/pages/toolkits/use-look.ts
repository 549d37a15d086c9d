import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { CatalogService, type ImportToolkitResponse } from "@svc/gen/catalog";
import { useRef, useState } from "react";
import { failureOf } from "../../calls/fault.ts";
import { type ImportKind, importRequest, mayBeMcp, type SourceInput } from "./import-request.ts";

/** A source from which a toolkit can be imported: its kind, the user's input, and the answer of the trial import. */
export type FoundSource = {
  readonly kind: ImportKind;
  readonly input: SourceInput;
  readonly answer: ImportToolkitResponse;
};

/**
 * Result of examining an address that the user typed: a source to import, or the reasons why it is neither an OpenAPI document nor an MCP
 * server.
 */
export type Looked = FoundSource | { readonly kind: "neither"; readonly openapi: unknown; readonly mcp: unknown };

type LookState = { readonly isPending: boolean; readonly data: Looked | undefined; readonly error: unknown };

const idle: LookState = { isPending: false, data: undefined, error: null };

/**
 * Returns a function that finds the kind of a source with a trial import, which stores nothing. It reads an address first as an OpenAPI
 * document, then as an MCP server. A second call waits for the first, because a project has one import at a time.
 */
export function useLook() {
  const transport = useTransport();
  const last = useRef<Promise<unknown>>(undefined);
  const count = useRef(0);
  const [state, setState] = useState<LookState>(idle);
  const look = async (input: SourceInput): Promise<Looked> => {
    const tryAs = async (kind: ImportKind): Promise<FoundSource> => {
      const request = { ...importRequest(input, kind), dryRun: true };
      return { kind, input, answer: await callUnaryMethod(transport, CatalogService.method.importToolkit, request) };
    };
    if (input.header.trim() !== "" && input.file === undefined) return await tryAs("mcp");
    try {
      return await tryAs("openapi");
    } catch (openapi) {
      if (input.file !== undefined || !mayBeMcp(reasonOf(openapi))) throw openapi;
      try {
        return await tryAs("mcp");
      } catch (mcp) {
        const isNone = ["UPSTREAM_NOT_MCP", "SOURCE_UNREACHABLE"].includes(reasonOf(mcp));
        if (isNone) return { kind: "neither", openapi, mcp };
        throw mcp;
      }
    }
  };
  const reset = () => {
    count.current += 1;
    setState(idle);
  };
  const mutate = (input: SourceInput) => {
    reset();
    const number = count.current;
    const show = (next: Partial<LookState>) => number === count.current && setState({ ...idle, ...next });
    setState({ ...idle, isPending: true });
    const looking = (last.current ?? Promise.resolve()).then(() => look(input));
    last.current = looking.then(
      (data) => show({ data }),
      (error: unknown) => show({ error }),
    );
  };
  return { ...state, mutate, reset };
}

function reasonOf(error: unknown): string {
  return failureOf(error).faults[0]?.reason ?? "";
}
