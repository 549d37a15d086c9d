import { useQuery } from "@connectrpc/connect-query";
import { CatalogService } from "@svc/gen/catalog";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ComponentProps, useState } from "react";
import { placeFailure } from "../../calls/fault.ts";
import { useApproverWhy } from "../../calls/identity.ts";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import type { NamedFile } from "../../ui/fields/dropped-files.ts";
import { CheckField, TextField } from "../../ui/fields/field.tsx";
import { FileDrop } from "../../ui/fields/file-drop.tsx";
import { FormFrame } from "../../ui/fields/form-frame.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { visible } from "../../words/text.ts";
import { ConnectFirst } from "./connect-first.tsx";
import { ImportPreview } from "./import-preview.tsx";
import { emptySource, inputAgain, type SourceInput } from "./import-request.ts";
import { type Looked, useLook } from "./use-look.ts";

const route = getRouteApi("/p/$projectId/toolkits/from-source");

/**
 * Draws the page that adds a toolkit (the tools of one app) to the project. The user gives an address or a file, sees what svc makes of it,
 * and publishes it.
 */
export default function AddToolkitPage() {
  const { projectId } = route.useParams();
  const { again } = route.useSearch();
  const why = useApproverWhy(projectId);
  return (
    <Page
      title="Add an app"
      back={
        <Link to="/p/$projectId/toolkits" params={{ projectId }}>
          Apps
        </Link>
      }
      actions={
        <Link to="/p/$projectId/tools/publish" params={{ projectId }} className={buttonClass()}>
          Write a definition
        </Link>
      }
    >
      {why !== undefined ? (
        <Notice tone="warn" icon="lock" title={`You cannot add a toolkit. ${why}`} />
      ) : again === undefined ? (
        <AddToolkit projectId={projectId} initial={emptySource} />
      ) : (
        <AddAgain key={again} projectId={projectId} slug={again} />
      )}
    </Page>
  );
}

/** Draws the form for the source of a toolkit that the project has already, for example to list the tools of an MCP server. */
function AddAgain({ projectId, slug }: { projectId: string; slug: string }) {
  const found = useQuery(CatalogService.method.getToolkitSource, { slug });
  const spec = useQuery(CatalogService.method.getToolkitConnectSpec, { slug, projectId });
  const { source } = found.data ?? {};
  if (found.error !== null || spec.error !== null) return <FaultNotice error={found.error ?? spec.error} />;
  if (source === undefined || spec.data === undefined) return <Skeleton rows={4} />;
  const key = spec.data.spec?.authSchemes.find(({ type }) => type === "api_key");
  return <AddToolkit projectId={projectId} initial={inputAgain(source, slug, key?.keyName ?? "")} />;
}

function AddToolkit({ projectId, initial }: { projectId: string; initial: SourceInput }) {
  const [input, setInput] = useState(initial);
  const look = useLook();
  const found = look.data;
  const change = (to: Partial<SourceInput>) => {
    setInput({ ...input, ...to });
    // What was found before is not about the changed source.
    look.reset();
  };
  const run = (to: Partial<SourceInput> = {}) => {
    const next = { ...input, ...to };
    setInput(next);
    look.mutate(next);
  };
  return (
    <Stack>
      <SourceForm
        input={input}
        onChange={change}
        onLook={run}
        error={look.error}
        isLooking={look.isPending}
        isFound={found !== undefined}
      />
      {look.isPending && <Skeleton rows={6} />}
      {found !== undefined && <Found projectId={projectId} found={found} onLook={run} />}
    </Stack>
  );
}

function Found({
  projectId,
  found,
  onLook,
}: {
  projectId: string;
  found: Looked;
  onLook: (to: Partial<SourceInput>) => void;
}) {
  if (found.kind === "neither") {
    return (
      <Notice tone="bad" title="This address is neither an OpenAPI document nor an MCP server.">
        <p>Give the address of the document itself, not of a page that shows it. Or choose the document as a file.</p>
        <Disclosure flat summary="What svc tried">
          <FaultNotice error={found.openapi} />
          <FaultNotice error={found.mcp} />
        </Disclosure>
      </Notice>
    );
  }
  const { kind, answer } = found;
  const isSilent = kind === "mcp" && answer.report?.operations === 0 && !answer.toolkit?.authSchemes.includes("none");
  return isSilent ? (
    <ConnectFirst projectId={projectId} found={found} onLook={onLook} />
  ) : (
    <ImportPreview projectId={projectId} found={found} />
  );
}

/** Maximum size of a file that the service reads, in bytes. */
const fileBytesMax = 16_777_216;

/** Fields of the form at which the service's errors are shown, by the name of the field in the request. */
const placed = ["openapi.url", "mcp.url", "slug", "openapi.server", "openapi.auth", "mcp.header"] as const;

function SourceForm({
  input,
  onChange,
  onLook,
  error,
  isLooking,
  isFound,
}: {
  input: SourceInput;
  onChange: (to: Partial<SourceInput>) => void;
  onLook: (to?: Partial<SourceInput>) => void;
  error: unknown;
  isLooking: boolean;
  isFound: boolean;
}) {
  const [problem, setProblem] = useState<string>();
  const { at, rest } = placeFailure(error, placed);
  // After the first error, the options stay open: one of them may be the remedy.
  const [hasFailed, setFailed] = useState(input.replace);
  if (error !== null && !hasFailed) setFailed(true);
  const isTaken = at.slug !== undefined || input.replace;
  const take = async ([chosen]: readonly NamedFile[]) => {
    if (chosen === undefined) return;
    const { file, path } = chosen;
    const isTooLarge = file.size > fileBytesMax;
    setProblem(isTooLarge ? `${path} has more than 16 MiB. Choose a smaller document.` : undefined);
    if (!isTooLarge) onLook({ file: { name: path, text: await file.text() }, url: "" });
  };
  const fieldOf = (name: "slug" | "header" | "server" | "auth") => ({
    value: input[name],
    onChange: (text: string) => onChange({ [name]: text }),
  });
  return (
    <FileDrop accept=".json,.yaml,.yml" takesFolders={false} isBelow onFiles={(files) => void take(files)}>
      <FormFrame onSubmit={() => onLook()}>
        {input.file !== undefined && (
          <Line>
            <span>
              File: <bdi>{visible(input.file.name)}</bdi>
            </span>
            <Button kind="quiet" icon="cross" onPress={() => onChange({ file: undefined })}>
              Remove the file
            </Button>
          </Line>
        )}
        {input.file === undefined && (
          <TextField
            label="Address"
            value={input.url}
            onChange={(url) => onChange({ url })}
            fault={at["openapi.url"] ?? at["mcp.url"]}
            placeholder="https://api.example.com/openapi.json"
            hint="The address of an OpenAPI document or of an MCP server. svc only reads it now. You publish the app later."
            isRequired
            inputMode="url"
            autoComplete="off"
            mono
          />
        )}
        <Disclosure summary="Options" initiallyOpen={hasFailed}>
          <Stack>
            <OptionField
              label="Slug"
              {...fieldOf("slug")}
              fault={at.slug}
              hint="First part of each tool's name, such as billing in billing.list_invoices. If empty, svc makes it from the title."
            />
            {isTaken && (
              <CheckField
                label="Replace the app that has this slug"
                checked={input.replace}
                onChange={(replace) => onChange({ replace })}
              />
            )}
            <OptionField
              label="Key header of an MCP server"
              {...fieldOf("header")}
              fault={at["mcp.header"]}
              hint="Header that carries the key of an account, such as X-Api-Key. With Authorization, the key is sent as a bearer token."
            />
            <OptionField
              label="Address for calls"
              {...fieldOf("server")}
              fault={at["openapi.server"]}
              hint="Only for a document: an https address, or the number of one of its servers. If empty, its first https server."
            />
            {input.file === undefined && (
              <CheckField
                label="Read the document again each day"
                checked={input.watch}
                onChange={(watch) => onChange({ watch })}
                hint="Changes wait until an approver accepts them. svc reads an MCP server again also without this."
              />
            )}
            <CheckField
              label="Accept later changes without an approver"
              checked={input.trust}
              onChange={(trust) => onChange({ trust })}
              hint="Only for a source of your own. Milder classes, suspicious texts and a new address still wait for an approver."
            />
            <OptionField
              label="Authentication"
              {...fieldOf("auth")}
              fault={at["openapi.auth"]}
              hint="Only for a document: bearer, basic, none, header:NAME or query:NAME. If empty, as the document says."
            />
          </Stack>
        </Disclosure>
        <FaultNotice error={rest} />
        <Line>
          <Button
            kind={isFound ? "plain" : "primary"}
            icon="search"
            type="submit"
            why={input.file === undefined && input.url.trim() === "" ? "Enter an address, or choose a file" : undefined}
            busy={isLooking ? "Looking" : undefined}
          >
            {isFound ? "Look again" : "Look at it"}
          </Button>
        </Line>
      </FormFrame>
      {problem !== undefined && (
        <div role="alert">
          <Notice tone="bad" title={problem} />
        </div>
      )}
    </FileDrop>
  );
}

/** Draws a text field of the options. All of them take code, such as a slug or an address. */
function OptionField(props: Pick<ComponentProps<typeof TextField>, "label" | "value" | "onChange" | "fault" | "hint">) {
  return <TextField {...props} autoComplete="off" mono />;
}
