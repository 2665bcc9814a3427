'use strict'

// The protocol of a process of a contender: commands come in, one a line, each is answered by a line. The same as
// PeerProcess.java; Peer.java lists the commands.

const readline = require('node:readline')

const BYTES = 100
const SAY_MILLIS = 10
const PARENT_IS_GONE = 3

const [variant, role, concurrency] = [process.argv[2], process.argv[3], Number(process.argv[4])]
const runs = []

function micros () {
  return Math.round((performance.timeOrigin + performance.now()) * 1000)
}

/** A JSON object of 100 bytes with the number of the job. */
function payload (n) {
  const rest = BYTES - JSON.stringify({ n, pad: '' }).length
  return { n, pad: 'x'.repeat(rest) }
}

/** All that a handler does. */
function ran (job) {
  runs.push([job.n, micros()])
}

function say (line) {
  process.stdout.write(line + '\n')
}

/**
 * Exponential, so that jobs come at any time between polls with the same likelihood, and some so soon that a worker is not done
 * with the one before. Timers here are of whole milliseconds, and of one at least.
 */
function pause (meanMillis, random) {
  return Math.min(5, -Math.log(1 - random)) * meanMillis
}

/** Opens all connections of a pool, so that no contender's start pays for that: who is asked meanwhile has to open another. */
async function openAll (size, query) {
  await Promise.all(Array.from({ length: size }, () => query('SELECT pg_sleep(0.2)')))
}

/** Any sequence will do, but the same for the same seed. */
function randomOf (seed) {
  let state = Number(seed) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

async function paced (contender, from, to, meanMillis, seed) {
  const random = randomOf(seed)
  const times = []
  for (let n = from; n < to; n++) {
    await new Promise(resolve => setTimeout(resolve, pause(meanMillis, random())))
    const before = micros()
    await contender.one(payload(n))
    times.push([n, before, micros()])
  }
  return times
}

function startCounting () {
  let said = 0
  setInterval(() => {
    if (runs.length !== said) {
      said = runs.length
      say('count ' + said)
    }
  }, SAY_MILLIS)
}

async function answer (contender, [command, ...args]) {
  const [from, to] = args.map(Number)
  const start = micros()
  switch (command) {
    case 'work':
      await contender.work(concurrency, ran)
      startCounting()
      return 'working ' + start
    case 'one':
      for (let n = from; n < to; n++) {
        await contender.one(payload(n))
      }
      return 'took ' + (micros() - start)
    case 'many':
      for (let begin = from; begin < to; begin += 1000) {
        const portion = []
        for (let n = begin; n < Math.min(to, begin + 1000); n++) {
          portion.push(payload(n))
        }
        await contender.many(portion)
      }
      return 'took ' + (micros() - start)
    case 'paced':
      return 'times ' + JSON.stringify(await paced(contender, from, to, Number(args[2]), args[3]))
    case 'runs':
      return 'runs ' + JSON.stringify(runs)
    default:
      throw new Error('There is no command ' + command)
  }
}

/** Obeys until told to stop. When the input ends without that, the parent is dead, and so is this. */
async function obey (contender) {
  say('ready')
  for await (const line of readline.createInterface({ input: process.stdin })) {
    if (line === 'stop') {
      await contender.stop()
      say('stopped')
      process.exit(0)
    }
    say(await answer(contender, line.split(' ')))
  }
  process.exit(PARENT_IS_GONE)
}

function run (makeContender) {
  makeContender({ tuned: variant === 'tuned', role, concurrency }).then(obey).catch(error => {
    console.error(error)
    process.exit(1)
  })
}

module.exports = { run, openAll }
