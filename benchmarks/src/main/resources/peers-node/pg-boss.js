'use strict'

const PgBoss = require('pg-boss')
const { run, openAll } = require('./peer')

const QUEUE = 'noop'
const BATCH = 50
const SHORTEST_INTERVAL_SECONDS = 0.5

run(async ({ tuned, role, concurrency }) => {
  const max = role === 'submit' ? 2 : concurrency + 8
  const boss = new PgBoss({ application_name: 'bench', max })
  boss.on('error', error => console.error(error))
  await boss.start()
  await boss.createQueue(QUEUE)
  await openAll(max, text => boss.getDb().executeSql(text))

  /** As many pollers as handlers are to run at a time. */
  async function work (pollers, ran) {
    for (let poller = 0; poller < pollers; poller++) {
      await (tuned ? workInBatches(ran) : boss.work(QUEUE, async ([job]) => ran(job.data)))
    }
  }

  /** A full batch says that there is more: the poller does not wait for its interval then. */
  async function workInBatches (ran) {
    let id = null
    const options = { batchSize: BATCH, pollingIntervalSeconds: SHORTEST_INTERVAL_SECONDS }
    id = await boss.work(QUEUE, options, async jobs => {
      jobs.forEach(job => ran(job.data))
      if (jobs.length === BATCH && id) {
        boss.notifyWorker(id)
      }
    })
  }

  return {
    one: data => boss.send(QUEUE, data),
    many: portion => boss.insert(portion.map(data => ({ name: QUEUE, data }))),
    work,
    stop: () => boss.stop({ timeout: 5000 })
  }
})
