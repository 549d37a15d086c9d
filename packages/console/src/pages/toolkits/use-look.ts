import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { CatalogService, type ImportToolkitResponse } from "@svc/gen/catalog";
import { useMutation } from "@tanstack/react-query";
import { useRef } from "react";
import { failureOf } from "../../calls/fault.ts";
import { type ImportKind, importRequest, mayBeMcp, type SourceInput } from "./import-request.ts";

/** A source that can be imported: what it is, and the answer to the trial run of its import. */
export type FoundSource = {
  readonly kind: ImportKind;
  readonly input: SourceInput;
  readonly answer: ImportToolkitResponse;
};

/** Result of looking at an address: a source, or the reasons why it is neither an OpenAPI document nor an MCP server. */
export type Looked = FoundSource | { readonly kind: "neither"; readonly openapi: unknown; readonly mcp: unknown };

/**
 * Returns a function that finds out what a source is, by a trial run of its import. Reads an address as an OpenAPI document first, and as
 * an MCP server if there is another text. Nothing is stored. A second look waits for the first, because a project has one import at a time.
 */
export function useLook() {
  const transport = useTransport();
  const last = useRef<Promise<unknown>>(undefined);
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
  return useMutation({
    mutationFn: async (input: SourceInput) => {
      await last.current?.catch(() => undefined);
      const looking = look(input);
      last.current = looking;
      return await looking;
    },
  });
}

function reasonOf(error: unknown): string {
  return failureOf(error).faults[0]?.reason ?? "";
}
