import { JobsService } from "@svc/gen/jobs";
import { useState } from "react";
import { useRows } from "../../calls/rows.ts";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { TextField } from "../../ui/fields/field.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { ListStates } from "../../ui/rows/list-states.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Time } from "../../ui/values/time.tsx";

/**
 * Draws the endpoints to which svc sends every question of the project. `why`: the reason why the user's key may not see them; undefined if
 * it may.
 */
export function AskEndpoints({ why }: { why: string | undefined }) {
  const list = useRows(JobsService.method.listAskEndpoints, { pageSize: 100 }, ({ askEndpoints }) => askEndpoints, {
    enabled: why === undefined,
  });
  const [endpointUrl, setEndpointUrl] = useState("");
  const create = useWrite(JobsService.method.createAskEndpoint, {
    onSuccess: () => {
      setEndpointUrl("");
      list.reload();
    },
  });
  const remove = useWrite(JobsService.method.deleteAskEndpoint, { onSuccess: list.reload });
  if (why !== undefined) return <Notice tone="plain" icon="lock" title={why} />;
  const secret = create.answer?.signingSecret;
  return (
    <Stack>
      <Section title="New question endpoint" boxed>
        <TextField
          label="URL"
          type="url"
          value={endpointUrl}
          onChange={setEndpointUrl}
          hint="svc posts each question to this URL, signed, and again for the next person. The URL must use https, except on this machine."
        />
        <Line>
          <Button
            kind="primary"
            why={endpointUrl === "" ? "Give its URL first" : undefined}
            busy={create.isSending ? "Registering" : undefined}
            onPress={() => create.send({ endpointUrl })}
          >
            Register
          </Button>
        </Line>
        <FaultNotice error={create.error} />
        {secret !== undefined && (
          <Notice tone="warn" icon="key" title="Its signing secret, shown once">
            <Copyable text={secret} what="secret" />
          </Notice>
        )}
      </Section>
      <ListStates
        list={list}
        empty={
          <Empty icon="send" title="No question endpoints yet">
            <p>A question endpoint is an address of your server. svc posts every question to it.</p>
          </Empty>
        }
      >
        <Stack>
          {list.rows.map(({ id, endpointUrl: url, active, inactiveReason, createdAt }) => (
            <Section
              key={id}
              title={url}
              boxed
              actions={
                <ConfirmButton
                  words="Delete"
                  title={`Delete the question endpoint ${url}?`}
                  says="svc posts no further question to it, and waiting posts fail. The questions can still be answered."
                  confirm="Delete the endpoint"
                  busy="Deleting"
                  act={() => remove.sendAsync({ id })}
                />
              }
            >
              <Line>
                <Copyable text={id} what="id" />
                <span>{active ? "active" : `inactive: ${inactiveReason}`}</span>
                <span>
                  since <Time at={createdAt} />
                </span>
              </Line>
            </Section>
          ))}
        </Stack>
      </ListStates>
    </Stack>
  );
}
