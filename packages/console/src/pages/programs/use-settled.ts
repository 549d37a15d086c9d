import { useEffect, useState } from "react";

/** A value once it has not changed for this long, in milliseconds: what is typed is asked about when the typing rests. */
export function useSettled<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
