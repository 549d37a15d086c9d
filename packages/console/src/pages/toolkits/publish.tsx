import { CatalogService } from "@svc/gen/catalog";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Suspense, useMemo, useRef, useState } from "react";
import { useApproverWhy } from "../../calls/identity.ts";
import { useWrite } from "../../calls/write.ts";
import { useSettled } from "../../clock.ts";
import type { JsonWriteHandle } from "../../ui/code/json-write.tsx";
import type { NamedFile } from "../../ui/fields/dropped-files.ts";
import { FileDrop } from "../../ui/fields/file-drop.tsx";
import { laterPart } from "../../ui/later-part.tsx";
import { Columns, Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { placeDefinitionFaults, readDefinition, type UploadedDefinition } from "./definition-files.ts";
import { DefinitionVerdictView, useDefinitionCheck } from "./definition-verdict.tsx";
import { PublishButton, useOpenPublished } from "./publish-button.tsx";

/** The text with which the editor of a new toolkit (definition of an app) starts: one app with one tool that reads. */
const exampleDefinition: string = `{
  "toolkit": {
    "slug": "shop",
    "name": "Shop",
    "description": "Orders of our own shop, as its back office keeps them.",
    "version": "1.0.0",
    "category": "sales",
    "baseUrl": "https://shop.example.com/api",
    "auth": [
      { "type": "api_key", "placement": "header", "name": "X-Key", "value": "{{credential.key}}" }
    ]
  },
  "tools": {
    "read_order": {
      "kind": "action",
      "class": "read",
      "description": "Reads one order of the shop with its lines and its state of payment.",
      "intents": ["where is my parcel", "what did they buy", "show the purchase"],
      "input": {
        "type": "object",
        "additionalProperties": false,
        "required": ["id"],
        "properties": { "id": { "type": "string", "description": "Id of the order." } }
      },
      "output": {
        "type": "object",
        "properties": { "id": { "type": "string" }, "state": { "type": "string" } }
      },
      "request": { "method": "GET", "path": "/orders/{{params.id}}" }
    }
  }
}
`;

/** Maximum total size of the chosen files, in bytes. */
const bytesMax = 1_048_576;

/** Reads a definition from local files. Skips files that cannot be part of a definition. */
async function readChosen(files: readonly NamedFile[]): Promise<UploadedDefinition> {
  const wanted = files.filter(({ path }) => /\.(?:json|ya?ml)$/.test(path));
  const bytes = wanted.reduce((sum, { file }) => sum + file.size, 0);
  if (bytes > bytesMax) return { problem: "That is more than 1 MiB: a definition has at most 512 KiB." };
  const read = wanted.length === 0 ? files.slice(0, 1) : wanted;
  return await readDefinition(
    await Promise.all(
      read.map(async ({ path, file }) => ({ path, text: wanted.length === 0 ? "" : await file.text() })),
    ),
  );
}

const JsonWrite = laterPart(() => import("../../ui/code/json-write.tsx"));

/** Delay between the last key press and the check of the toolkit's definition, in milliseconds. */
const restMs = 350;

/**
 * Draws the editor of a definition, with the result of the service's check and the button that publishes. `why`: the reason why this user
 * may not publish; undefined if the user may.
 */
function DefinitionEditor({ projectId, why }: { projectId: string; why: string | undefined }) {
  const [begun, setBegun] = useState({ text: exampleDefinition, times: 0 });
  const [text, setText] = useState(begun.text);
  const [problem, setProblem] = useState<string>();
  const editor = useRef<JsonWriteHandle>(null);
  const checked = useSettled(text, restMs);
  const check = useDefinitionCheck(checked, why === undefined);
  const faults = useMemo(() => placeDefinitionFaults(checked, check.data?.faults ?? []), [checked, check.data]);
  const marks = useMemo(() => faults.map(({ mark }) => mark), [faults]);
  const isCurrent = checked === text && check.isSuccess && !check.isPlaceholderData;
  const take = async (files: readonly NamedFile[]) => {
    const read = await readChosen(files);
    setProblem("problem" in read ? read.problem : undefined);
    if ("problem" in read) return;
    setBegun(({ times }) => ({ text: read.text, times: times + 1 }));
    setText(read.text);
  };
  return (
    <Columns>
      <Section title="Definition">
        <FileDrop accept=".json" onFiles={(files) => void take(files)}>
          {problem !== undefined && (
            <div role="alert">
              <Notice tone="bad" title={problem} />
            </div>
          )}
          <Suspense fallback={<Skeleton rows={12} />}>
            <JsonWrite
              key={begun.times}
              initial={begun.text}
              label="Definition"
              marks={marks}
              onChange={setText}
              handle={editor}
            />
          </Suspense>
        </FileDrop>
      </Section>
      <Stack>
        <PublishDefinition
          text={text}
          projectId={projectId}
          why={
            why ??
            (!isCurrent ? "The definition is being checked" : faults.length > 0 ? "Fix the problems first" : undefined)
          }
        />
        <FaultNotice error={check.error} onRetry={() => void check.refetch()} />
        {check.data !== undefined && (
          <DefinitionVerdictView
            projectId={projectId}
            verdict={check.data}
            faults={faults}
            isCurrent={isCurrent}
            onGoTo={(offset) => editor.current?.goTo(offset)}
          />
        )}
      </Stack>
    </Columns>
  );
}

/** Draws a button that publishes a toolkit's definition (one app's tools) for the project and then opens the toolkit's page. */
function PublishDefinition({ text, projectId, why }: { text: string; projectId: string; why: string | undefined }) {
  const open = useOpenPublished(projectId);
  const publish = useWrite(CatalogService.method.publishToolkit, {
    onSuccess: async ({ toolkit }) => {
      if (toolkit === undefined) return;
      const { slug, version } = toolkit;
      await open(slug, `${slug} ${version}`);
    },
  });
  return <PublishButton publish={publish} why={why} onPress={() => publish.send({ definitionJson: text })} />;
}

const route = getRouteApi("/p/$projectId/tools/publish");

/**
 * Draws the page that publishes a toolkit (one app's tools and webhooks) for this project only. The user pastes, drops or types the
 * definition. The service checks it while the user types.
 */
export default function PublishToolkitPage() {
  const { projectId } = route.useParams();
  const why = useApproverWhy(projectId);
  return (
    <Page
      title="Publish a definition"
      back={
        <Link to="/p/$projectId/toolkits" params={{ projectId }}>
          Apps
        </Link>
      }
    >
      <p>
        Tools of an app of your own, for this project alone: its definition is what a toolkit's folder has, toolkit.yaml
        and tools/&lt;tool&gt;.yaml, as one JSON text.
      </p>
      {why !== undefined && <Notice tone="warn" icon="lock" title={`Not published: ${why}`} />}
      <DefinitionEditor projectId={projectId} why={why} />
    </Page>
  );
}
