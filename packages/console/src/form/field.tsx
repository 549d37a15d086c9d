import type { ReactNode } from "react";
import styles from "./field.module.css";
import { BooleanCell, ChoiceCell } from "./fields/choice.tsx";
import { DateCell } from "./fields/date.tsx";
import type { FieldProps } from "./fields/field-props.ts";
import { JsonCell } from "./fields/json.tsx";
import { ListCell } from "./fields/list.tsx";
import { NumberCell } from "./fields/number.tsx";
import { ObjectCell } from "./fields/object.tsx";
import { TextCell } from "./fields/text.tsx";

/** A field of a form, by what its schema says. `data-pointer` tells who listens around it which field was left. */
export function Field(props: FieldProps): ReactNode {
  return (
    <div className={styles["place"]} data-pointer={props.pointer}>
      {cellOf(props)}
    </div>
  );
}

function cellOf(props: FieldProps): ReactNode {
  const { shape } = props;
  switch (shape.type) {
    case "text":
      return <TextCell {...props} shape={shape} />;
    case "number":
      return <NumberCell {...props} shape={shape} />;
    case "boolean":
      return <BooleanCell {...props} shape={shape} />;
    case "choice":
      return <ChoiceCell {...props} shape={shape} />;
    case "date":
      return <DateCell {...props} shape={shape} />;
    case "list":
      return <ListCell {...props} shape={shape} draw={drawField} />;
    case "object":
      return <ObjectCell {...props} shape={shape} draw={drawField} />;
    case "json":
      return <JsonCell {...props} shape={shape} />;
  }
}

function drawField(props: FieldProps): ReactNode {
  return <Field key={props.pointer} {...props} />;
}
