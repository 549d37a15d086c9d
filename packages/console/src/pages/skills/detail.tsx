import { useQuery } from "@connectrpc/connect-query";
import { JobsService, type Skill } from "@svc/gen/jobs";
import { ToolsService } from "@svc/gen/tools";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { randomKey } from "../../random.ts";
import { seatFor, useSession } from "../../session/session.ts";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { JsonView } from "../../ui/code/json-view.tsx";
import { Choice } from "../../ui/fields/choice.tsx";
import { AreaField } from "../../ui/fields/field.tsx";
import { Columns, Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { classWord } from "../../words/calls.ts";
import { JobLink } from "../jobs/job-link.tsx";
import { skeletonInput } from "./skeleton-input.ts";

const route = getRouteApi("/p/$projectId/skills/$slug");

/** Draws one skill: how to call it, its program, its versions. */
export default function SkillPage() {
  const { projectId, slug } = route.useParams();
  const { version } = route.useSearch();
  const navigate = route.useNavigate();
  const found = useQuery(JobsService.method.getSkill, { slug, version: Number(version ?? 0) || 0 });
  const versions = useQuery(JobsService.method.listSkills, { slug, pageSize: 100 });
  const skill = found.data?.skill;
  const newest = versions.data?.skills[0]?.version;
  return (
    <Page
      title={`skills.${slug}`}
      state={skill !== undefined && <State word={classWord(skill.accessClass)} />}
      actions={skill !== undefined && <DeleteSkill slug={slug} version={skill.version} projectId={projectId} />}
      back={
        <Link to="/p/$projectId/skills" params={{ projectId }}>
          Skills
        </Link>
      }
      filters={
        <Choice
          label="Version"
          value={version ?? ""}
          options={[
            { value: "", words: newest === undefined ? "newest" : `newest, ${newest}` },
            ...(versions.data?.skills.map((one) => ({ value: String(one.version), words: String(one.version) })) ?? []),
          ]}
          onChange={(to) => void navigate({ search: { version: to || undefined }, replace: true })}
        />
      }
    >
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton />}
      {skill !== undefined && (
        <Columns>
          <Stack>
            <p>{skill.description}</p>
            <Section title="Call" boxed>
              <CallForm key={skill.version} skill={skill} isNewest={skill.version === newest} projectId={projectId} />
            </Section>
            <Section title="Program">
              <JsonView text={skill.programJson} label="program" />
            </Section>
          </Stack>
          <Stack>
            <Section title="Saved tool">
              <Facts
                facts={[
                  ["Version", skill.version],
                  ["Created", <Time key="made" at={skill.createdAt} />],
                  ["From job", <JobLink key="job" projectId={projectId} id={skill.jobId} />],
                  [
                    "Its jobs",
                    <Link key="jobs" to="/p/$projectId/jobs" params={{ projectId }} search={{ skill: skill.toolSlug }}>
                      View its jobs
                    </Link>,
                  ],
                  [
                    "On a schedule",
                    <Link key="new" to="/p/$projectId/schedules/new" params={{ projectId }} search={{ skill: slug }}>
                      Create a schedule
                    </Link>,
                  ],
                ]}
              />
            </Section>
            <Section title="Input">
              <JsonView text={skill.inputSchemaJson} label="input schema" />
            </Section>
          </Stack>
        </Columns>
      )}
    </Page>
  );
}

/** Draws the dialog that deletes one version of a skill, or the whole skill, after a confirmation. */
function DeleteSkill({ slug, version, projectId }: { slug: string; version: number; projectId: string }) {
  const [open, setOpen] = useState(false);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const seat = seatFor(useSession(), projectId);
  const remove = useWrite(JobsService.method.deleteSkill, {
    onSuccess: () => {
      announce("Deleted.");
      void navigate({ to: "/p/$projectId/skills", params: { projectId } });
      return queries.invalidateQueries();
    },
  });
  const why = seat?.role === "approver" ? undefined : "This needs a key with the role approver";
  const busy = remove.isSending ? "Deleting" : undefined;
  return (
    <>
      <Button kind="danger" why={why} onPress={() => setOpen(true)}>
        Delete
      </Button>
      <Dialog
        open={open}
        onClose={() => setOpen(false)}
        title={`Delete skills.${slug}?`}
        actions={
          <>
            <Button onPress={() => setOpen(false)}>Cancel</Button>
            <Button kind="danger" busy={busy} onPress={() => remove.send({ slug, version })}>
              Delete version {version}
            </Button>
            <Button kind="danger" busy={busy} onPress={() => remove.send({ slug, version: 0 })}>
              Delete all versions
            </Button>
          </>
        }
      >
        <p>Running jobs continue. Later calls use the newest version that is left, or fail if there is none.</p>
        <FaultNotice error={remove.error} />
      </Dialog>
    </>
  );
}

/** Draws the form that calls a skill with an input, and opens the job that runs the skill. */
function CallForm({ skill, isNewest, projectId }: { skill: Skill; isNewest: boolean; projectId: string }) {
  const [input, setInput] = useState(() => skeletonInput(skill.inputSchemaJson));
  const [idempotencyKey, setIdempotencyKey] = useState(randomKey);
  const call = useWrite(ToolsService.method.callTool);
  const toolSlug = isNewest ? skill.toolSlug : `${skill.toolSlug}@${skill.version}`;
  const answer = call.answer;
  const jobId = answer === undefined ? undefined : /job_[a-z0-9]{26}/.exec(answer.resultJson)?.[0];
  return (
    <Stack>
      <AreaField
        label="Input"
        mono
        value={input}
        onChange={(text) => {
          setInput(text);
          setIdempotencyKey(randomKey());
        }}
        hint={
          skill.accessClass === "destructive"
            ? 'It is destructive: add "confirm": true once you mean it.'
            : "JSON that fits the input schema."
        }
      />
      <Line>
        <Button
          kind="primary"
          icon="send"
          onPress={() => call.send({ toolSlug, argumentsJson: input, idempotencyKey })}
          busy={call.isSending ? "Sending" : undefined}
        >
          Call {toolSlug}
        </Button>
      </Line>
      <FaultNotice error={call.error} />
      {answer !== undefined && jobId === undefined && (
        <Notice tone="bad" title={answer.outcome}>
          <p>{answer.message}</p>
        </Notice>
      )}
      {jobId !== undefined && (
        <Notice
          tone="ok"
          title="A job is running it"
          actions={
            <Link to="/p/$projectId/jobs/$jobId" params={{ projectId, jobId }} className={buttonClass()}>
              Open the job
            </Link>
          }
        />
      )}
    </Stack>
  );
}
