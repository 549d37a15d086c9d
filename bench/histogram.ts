/** Percentiles of the durations in a histogram, in milliseconds. */
export type LatencySummary = {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
};

const subBucketBits = 7;
const subBuckets = 1 << subBucketBits;
const exponentsMax = 26;

/**
 * Durations in microseconds, in buckets whose width grows with the value, as in HdrHistogram. There are 128 buckets to a power of two, so a
 * percentile is off by less than 1 %. Recording takes a few nanoseconds, however many values the histogram has.
 */
export class Histogram {
  readonly #counts = new Uint32Array(subBuckets * exponentsMax);
  #count = 0;
  #maxMicros = 0;

  /** Adds one duration. A negative one counts as 0, and one above 2.4 hours as 2.4 hours. */
  record(micros: number): void {
    const value = Math.max(0, Math.floor(micros));
    const index = Math.min(bucketOf(value), this.#counts.length - 1);
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#count += 1;
    if (value > this.#maxMicros) this.#maxMicros = value;
  }

  /** Returns the percentiles so far, or zeros if nothing was recorded. */
  summary(): LatencySummary {
    return {
      count: this.#count,
      p50: this.#percentileMs(0.5),
      p95: this.#percentileMs(0.95),
      p99: this.#percentileMs(0.99),
      p999: this.#percentileMs(0.999),
      max: this.#maxMicros / 1000,
    };
  }

  #percentileMs(share: number): number {
    const rank = Math.ceil(this.#count * share);
    let seen = 0;
    for (const [index, count] of this.#counts.entries()) {
      seen += count;
      if (seen >= rank && count > 0) return Math.min(upperBoundOf(index), this.#maxMicros) / 1000;
    }
    return 0;
  }
}

function bucketOf(value: number): number {
  if (value < subBuckets) return value;
  const exponent = 31 - Math.clz32(value) - subBucketBits;
  if (value > 0x7fffffff) return subBuckets * exponentsMax;
  return subBuckets * (exponent + 1) + ((value >>> exponent) - subBuckets);
}

function upperBoundOf(index: number): number {
  if (index < subBuckets) return index;
  const exponent = Math.floor(index / subBuckets) - 1;
  return ((index % subBuckets) + subBuckets + 1) * 2 ** exponent - 1;
}
