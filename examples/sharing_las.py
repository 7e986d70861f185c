"""A preemptive policy that shares GPUs, in Python: least attained service, two jobs of one GPU each per GPU.

    python3 examples/sharing_las.py

Every hour of the trace at the latest, and whenever a job comes or goes, the jobs that have been served least get the GPUs.
Gangs get GPUs of their own. A job that runs gives way only to one that was served less by a quantum, so that jobs do not
change places for seconds. docs/python.md explains what a policy sees.
"""

import corun


class SharingLas(corun.Policy):
    quantum_ns = 600 * 10**9
    wake_ns = 3600 * 10**9

    def decide(self, view):
        waiting = list(view.waiting)
        gpus, running = view.running
        residents = {}
        for gpu, job in zip(gpus.tolist(), running.tolist()):
            residents.setdefault(gpu, []).append(job)
        served = dict(zip([*waiting, *running.tolist()],
                          view.jobs([*waiting, *running.tolist()])["served_ns"].tolist()))
        asks = {job: view.job(job) for job in waiting}
        decisions = [corun.Wake((view.now_ns // self.wake_ns + 1) * self.wake_ns)]
        free = set(view.free.tolist())
        limit = min(2, view.max_jobs_per_gpu or 2)
        for job in sorted(waiting, key=lambda j: (served[j], asks[j].submit_ns, j)):
            gang = asks[job].gpus
            if gang == 1 and view.start == "join":
                beside = [g for g, there in residents.items() if len(there) < limit
                          and view.job(there[0]).gpus == 1 and not view.profiling(g)]
                if beside and not free:
                    gpu = min(beside, key=lambda g: (len(residents[g]), g))
                    residents[gpu].append(job)
                    decisions.append(corun.Start([job], [gpu]))
                    continue
            place = [g for g in view.consolidated(gang).tolist() if g in free]
            if len(place) < gang:
                place = self.room_for(view, job, gang, residents, served, decisions)
            if len(place) == gang:
                free -= set(place)
                residents.update({g: [job] for g in place})
                decisions.append(corun.Start([job], place))
        return decisions

    def room_for(self, view, job, gang, residents, served, decisions):
        """GPUs of jobs that were served most, which leave them; none if too few were served more by a quantum."""
        if decisions[1:]:
            return []  # of jobs that this turn has placed, the view knows nothing yet
        victims = []
        for other in sorted({j for there in residents.values() for j in there}, key=lambda j: (-served[j], j)):
            if served[other] < served[job] + self.quantum_ns or view.job(other).started_ns == view.now_ns:
                continue
            victims.append(other)
            place = view.consolidated(gang, without=victims).tolist()
            if len(place) == gang:
                leaving = sorted({j for g in place for j in residents.get(g, [])})
                decisions.append(corun.Preempt(leaving))
                return place
        return []


if __name__ == "__main__":
    results = corun.replay("examples/jobs.csv", policies=["fifo", "las", SharingLas], replications=3,
                           set={"control.start": "join", "cluster.nodes": 1, "cluster.gpus_per_node": 2})
    print(results.metrics.groupby("label")[["jct_s", "isd", "ps"]].mean().round(3))
